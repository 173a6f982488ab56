// What the generated parser needs of ANTLR's runtime, found before the header of the same name that
// brings all of it and that Clang 14 cannot compile with libstdc++ 12
// (misc/InterpreterDataReader.h).
#pragma once

#include "ANTLRErrorStrategy.h"
#include "CharStream.h"
#include "CommonToken.h"
#include "Exceptions.h"
#include "Lexer.h"
#include "NoViableAltException.h"
#include "Parser.h"
#include "ParserRuleContext.h"
#include "RecognitionException.h"
#include "TokenStream.h"
#include "Vocabulary.h"
#include "atn/ATN.h"
#include "atn/ATNDeserializer.h"
#include "atn/LexerATNSimulator.h"
#include "atn/ParserATNSimulator.h"
#include "atn/PredictionContext.h"
#include "dfa/DFA.h"
#include "misc/IntervalSet.h"
#include "support/CPPUtils.h"
#include "tree/TerminalNode.h"
