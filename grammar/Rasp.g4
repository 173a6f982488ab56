// RASP, the language of select and aggregate, with `expect` and `puzzle`.
//
// Written for speed: one token of look-ahead settles every decision, so the generated parser is plain switches
// that never simulate the grammar (a test holds it to that). Two things make it so:
// - An expression is a flat list of operands and operators; src/syntax/precedence.cc groups it by one table.
// - Words such as `load` are names, except where a statement can begin with them: src/syntax/outline.cc, which
//   also cuts a text into statements, turns them into the tokens listed here. Nothing else is reserved.
grammar Rasp;

tokens { LOAD, EXPECT, PUZZLE, VOCAB, LENGTH, TO, SPEC, LIMIT, HINT }

// ---- Statements

unit : whole=statement EOF ;

itemUnit : whole=item EOF ;

statement
  : function=definition
  | repeat=loop
  | task=puzzle
  | RETURN values=expressions ';'
  | LOAD path=STRING ';'
  | EXPECT claim=expression ';'
  | targets=expressions (equals='=' values=expressions)? ';'
  ;

definition : DEF name=NAME '(' parameters=names? ')' '{' (body+=statement | ';')* '}' ;

loop : FOR targets=names IN iterable=expression '{' (body+=statement | ';')* '}' ;

puzzle : PUZZLE name=NAME '(' parameters=names? ')' '{' (items+=item | ';')* '}' ;

item
  : description=STRING
  | kind=VOCAB value=expression ';'
  | kind=LENGTH low=INTEGER TO high=INTEGER ';'
  | kind=EXPECT value=expression ';'
  | kind=SPEC value=expression ';'
  | kind=LIMIT what=NAME count=INTEGER ';'
  | kind=HINT description=STRING ';'
  ;

names : list+=NAME (',' list+=NAME)* ;

expressions : list+=expression (',' list+=expression)* ;

// ---- Expressions

expression
  : operands+=operand
    ( operators+=('^' | '*' | '/' | '%' | '+' | '-' | '==' | '!=' | '<' | '>' | '<=' | '>=' | AND | OR | IN)
      operands+=operand
    | operators+=IF conditions+=expression ELSE operands+=operand
    )*
  ;

operand
  : prefixes+=(NOT | '-' | '+')* (simple=(NAME | INTEGER | DECIMAL | STRING) | form=primary) suffixes+=suffix*
  ;

primary
  : open='(' inner=expression ')'
  | open=SELECT '(' key=expression ',' query=expression ',' compare=('==' | '!=' | '<' | '>' | '<=' | '>=') ')'
  | open=AGGREGATE '(' selector=expression ',' value=expression (',' otherwise=expression)? ')'
  | open='[' (list+=expression (FOR targets=names IN iterable=expression | (',' list+=expression)*))? ']'
  | open='{' (entries+=entry (FOR targets=names IN iterable=expression | (',' entries+=entry)*))? '}'
  ;

entry : key=expression ':' value=expression ;

suffix
  : open='[' index=expression close=']'
  | open='(' (arguments+=expression (',' arguments+=expression)*)? close=')'
  ;

// ---- Tokens

AND : 'and' ;
AGGREGATE : 'aggregate' ;
DEF : 'def' ;
ELSE : 'else' ;
FOR : 'for' ;
IF : 'if' ;
IN : 'in' ;
NOT : 'not' ;
OR : 'or' ;
RETURN : 'return' ;
SELECT : 'select' ;

SEMICOLON : ';' ;
ASSIGN : '=' ;
COMMA : ',' ;
COLON : ':' ;
OPEN_PAREN : '(' ;
CLOSE_PAREN : ')' ;
OPEN_BRACKET : '[' ;
CLOSE_BRACKET : ']' ;
OPEN_BRACE : '{' ;
CLOSE_BRACE : '}' ;
POWER : '^' ;
TIMES : '*' ;
DIVIDE : '/' ;
MODULO : '%' ;
PLUS : '+' ;
MINUS : '-' ;
EQUAL : '==' ;
NOT_EQUAL : '!=' ;
LESS : '<' ;
GREATER : '>' ;
LESS_EQUAL : '<=' ;
GREATER_EQUAL : '>=' ;

NAME : [A-Za-z_] [A-Za-z_0-9]* ;
INTEGER : [0-9]+ ;
DECIMAL : [0-9]+ '.' [0-9]+ ;
STRING : '"' ~["\r\n]* '"' ;

COMMENT : '#' ~[\r\n]* -> skip ;
SPACE : [ \t\r\n\f]+ -> skip ;

// What is no token of the language is one all the same, so that reading never stops and the parser says where
// and why. Bytes above ASCII all reach the lexer as \u007F (src/syntax/lexer.cc).
UNCLOSED : '"' ~["\r\n]* ;
QUOTED : '\'' ~['\r\n]* '\'' ;
FOREIGN : [\u007F]+ ;
OTHER : . ;
