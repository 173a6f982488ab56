// The generated parser, and with it ANTLR's runtime. The runtime undefines EOF, which Boost's
// headers need: they come first.
#pragma once

// clang-format off
#include "value/number.h"

#include "RaspLexer.h"
#include "RaspParser.h"
// clang-format on
