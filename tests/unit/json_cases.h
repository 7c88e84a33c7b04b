/* Valid and invalid JSON: the cases of the well-known suite "Parsing JSON is a minefield". In a
 * rejected text ^ precedes the byte in error; ~ is a zero byte. */
#ifndef TMERGE_JSON_CASES_H
#define TMERGE_JSON_CASES_H

#define MANY_RANKS "[8, 16, 24, 32, 40, 48, 56, 64, 72, 80, "
#define MORE_RANKS "102, 103, 104, 105, 106, 107, 108, 109, 110]"

static const char *const accepted_cases[] = {
    /* arrays */
    "[[]   ]", "[\"\"]", "[]", "[\"a\"\n]", "[false]", "[null, 1, \"1\", {}]", "[null]", "[1\n]",
    " [1]", "[1,null,null,null,2]", "[2] ",
    "[0,1, 2,3, 4,5,  6,7 ,8\n,9,10,11,12,13,14,15, 16, 17, 18, 19, 20, 0, 22, 23, 24, 1.5]",
    (MANY_RANKS "100]"),
    /* numbers */
    "[123e65]", "[0e+1]", "[0e1]", "[ 4]",
    ("[-0.00000000000000000000000000000000000000000000000000000000000"
     "0000000000000000001]\n"),
    "[20e1]", "[-0]", "[-123]", "[-1]", "[ -0 ]", "[1E22]", "[1E-2]", "[1E+2]", "[123.45e78]",
    "[1e-2]", "[1e+2]", "[123]", "[123.456789]",
    /* objects */
    "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}", "{\"asd\":\"sdf\"}", "{\"a\":\"b\",\"a\":\"c\"}",
    "{\"a\":\"b\",\"a\":\"b\"}", "{}", "{\"\":0}", "{\"foo\\u0000bar\": 42}",
    "{ \"min\": -1.0e+28, \"max\": 1.0e+28 }",
    ("{\"x\":[{\"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}], "
     "\"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}"),
    "{\"a\":[]}", "{\"title\":\"\\u041f\\u043e\\u043b\\u0442\\u043e\\u0440\"}",
    "{\n\"a\": \"b\"\n}",
    /* strings */
    "[\"\\u0060\\u012a\\u12AB\"]", "[\"\\uD801\\udc37\"]", "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]",
    "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\\\u0000\"]", "[\"\\\"\"]", "[\"a/*b*/c/*d//e\"]",
    "[\"\\\\a\"]", "[\"\\\\n\"]", "[\"\\u0012\"]", "[\"\\uFFFF\"]", "[\"asd\"]", "[ \"asd\"]",
    "[\"\\uDBFF\\uDFFF\"]", "[\"\\uD83F\\uDFFF\"]", "[\"new\\u00A0line\"]",
    "[\"\xF4\x8F\xBF\xBF\"]", "[\"\xEF\xBF\xBF\"]", "[\"\\u0000\"]", "[\"\\u002c\"]",
    "[\"\xCF\x80\"]", "[\"\xF0\x9B\xBF\xBF\"]", "[\"asd \"]", "\" \"", "[\"\\uD834\\uDd1e\"]",
    "[\"\\u0821\"]", "[\"\\u0123\"]", "[\"\xE2\x80\xA8\"]", "[\"\xE2\x80\xA9\"]",
    "[\"\\u0061\\u30AF\\u30EA\\u30B9\"]", "[\"new\\u000Aline\"]", "[\"\\u007F\"]", "[\"\x7F\"]",
    "[\"\\uA66D\\ua66D\"]", "[\"\\u005C\"]", "[\"\xE2\x8D\x82\xE3\x88\xB4\xE2\x8D\x82\"]",
    "[\"\\uDBFF\\uDFFE\"]", "[\"\\uD83F\\uDFFE\"]", "[\"\\u200B\"]", "[\"\\u2064\"]",
    "[\"\\uFDD0\"]", "[\"\\uFFFE\"]", "[\"\\u0022\"]", "[\"\xE2\x82\xAC\xF0\x9D\x84\x9E\"]",
    ("[\"a\x7F"
     "a\"]"),
    /* documents */
    "false", "42", "-0.1", "null", "\"asd\"", "true", "\"\"", "[\"a\"]\n", "[true]",
    " \t\r\n[ \t\r\n] \t\r\n"};

/* Cases that the suite leaves open and this reader accepts. */
static const char *const taken_cases[] = {
    /* The grammar has no limit; whoever asks for the value decides what a number means. */
    "[0.4e006699999999999999999999999999999999999999999999]", "[-1e+9999]", "[1.5e+9999]",
    "[123e-10000000]", "[123123e-100000000000000000000]", "[123.456e78901234567890]",
    "[-123123e100000]", "[123123e100000]", "[100000000000000000000]",
    "[-123123123123123123123123123123]", "[123123123123123123123123123123123123123123]",
    /* Profilers cut names in the middle of a surrogate pair; such an escape becomes U+FFFD. */
    "{\"\\uDFAA\":0}", "[\"\\uDADA\\u0041\"]", "[\"\\uD800\\n\"]", "[\"\\uD888\\u1234\"]",
    "[\"\\uDADA\"]", "[\"\\ud800abc\"]", "[\"\\uD800\\uD800\\n\"]", "[\"\\uDd1e\\uD834\"]",
    "[\"\\uDFAA\"]"};

/* Cases that the suite leaves open and this reader rejects. */
static const char *const refused_cases[] = {
    /* Stores and pages must hold valid UTF-8, so no other bytes are accepted. */
    "[\"^\xF4\xBF\xBF\xBF\"]", "[\"^\xE9\"]", "[\"^\xE0\xFF\"]", "[\"^\xFA\"]", "[\"^\x81\"]",
    "[\"^\xED\xA0\x80\"]", "[\"^\xFC\x80\x80\x80\x80\x80\"]", "[\"^\xFC\x83\xBF\xBF\xBF\xBF\"]",
    "[\"^\xC0\xAF\"]", "[\"^\xF8\x80\x80\x80\xAF\"]", "[\"^\xE0\x80\x80\"]", "[\"^\xE2\x82\"]",
    "[\"\xE6\x97\xA5\xD1\x88^\xFA\"]", "[\"^\xF5\x80\x80\x80\"]",
    /* RFC 8259, 8.1 does not allow UTF-16 for JSON exchanged between programs. */
    "[^~\"~\xE9~\"~]~", "^~[~\"~\xE9~\"~]", "^\xFF\xFE[~\"~\xE9~\"~]~",
    /* The trace reader skips a byte order mark before the first value; here it is a stray byte. */
    "^\xEF\xBB\xBF{}"};

static const char *const wrong_cases[] = {
    /* arrays */
    "[1 ^true]", "[^a\xE5]", "[\"\"^: 1]", "[\"\"]^,", "[^,1]",
    (MANY_RANKS "100,^, 101, " MORE_RANKS), (MANY_RANKS "100, ^, 101, " MORE_RANKS),
    (MANY_RANKS "100 ^101, " MORE_RANKS), (MANY_RANKS "100, 0^1, " MORE_RANKS),
    (MANY_RANKS "0^0, " MORE_RANKS), (MANY_RANKS "10^O, " MORE_RANKS), "[1,^,2]", "[\"x\",^,]",
    "[\"x\"]^]", "[\"\",^]", "[\"x\"^", "[^x", "[3^[4]]", "[^\xFF]", "[1^:2]", "[^,]", "[-^]",
    "[   ^, \"\"]", "[\"a\",\n4\n,1,^", "[1,^]", "[1,^,]", "[\"^\va\"\f]", "[^*]", "[\"\"^", "[1,^",
    "[1,\n1\n,1^", "[{}^",
    /* words */
    "[fals^]", "[nul^]", "[tru^]",
    /* numbers */
    "123^~", "[^++1234]", "[^+1]", "[^+Inf]", "[-0^1]", "[-1.0^.]", "[-2.^]", "[-^NaN]", "[^.-1]",
    "[^.2e-3]", "[0.1^.2]", "[0.3e+^]", "[0.3e^]", "[0.^e1]", "[0E+^]", "[0E^]", "[0e+^]", "[0e^]",
    "[1.0e+^]", "[1.0e-^]", "[1.0e^]", "[1 ^000.0]", "[1e^E2]", "[2.^e+3]", "[2.^e-3]", "[2.^e3]",
    "[9.^e+]", "[^Inf]", "[^NaN]", "[^\xEF\xBC\x91]", "[1^+2]", "[0^x1]", "[0^x42]", "[^Infinity]",
    "[0e+^-1]", "[-123.123^foo]", "[123^\xE5]", "[1e1^\xE5]", "[0^\xE5]\n", "[-^Infinity]",
    "[-^foo]", "[-^ 1]", "[-0^12]", "[-^.123]", "[-1^x]", "[1e^a]", "[1e^\xE5]", "[1.^]", "[^.123]",
    "[1.2^a-3]", "[1.8011670033376514^H-308]", "[0^12]", "[0^0]", "[-0^0.0]",
    /* objects */
    "[\"x\", tru^th]", "{^[: \"x\"}\n", "{\"x\"^, null}", "{\"x\":^:\"b\"}",
    "{^\xF0\x9F\x87\xA8\xF0\x9F\x87\xAD}", "{\"a\":\"a\" ^123}", "{^key: 'value'}",
    "{\"^\xB9\":\"0\",}", "{\"a\" ^b}", "{^:\"b\"}", "{\"a\" ^\"b\"}", "{\"a\":^", "{\"a\"^",
    "{^1:1}", "{^9999E9999:1}", "{^null:null,null:null}", "{\"id\":0,^,,,,}", "{^'a':0}",
    "{\"id\":0,^}", "{\"a\":\"b\"}^/**/", "{\"a\":\"b\"}^/**//", "{\"a\":\"b\"}^//",
    "{\"a\":\"b\"}^/", "{\"a\":\"b\",^,\"c\":\"d\"}", "{^a: \"b\"}", "{\"a\":\"a^",
    "{ \"foo\" : \"bar\", \"a\" ^}", "{\"a\":\"b\"}^#", " ^",
    /* strings */
    "[\"\\uD800\\\"]^", "[\"\\uD800\\u^\"]", "[\"\\uD800\\u1^\"]", "[\"\\uD800\\u1^x\"]",
    "[^\xC3\xA9]", "[\"\\^~\"]", "[\"\\^x00\"]", "[\"\\\\\\\"]^", "[\"\\^\t\"]",
    "[\"\\^\xF0\x9F\x8C\x80\"]", "[\"\\\"]^", "[\"\\u00A^\"]", "[\"\\uD834\\uDd^\"]",
    "[\"\\uD800\\uD800\\^x\"]", "[\"\\u^\xE5\"]", "[\"\\^a\"]", "[\"\\u^qqqq\"]", "[\"\\^\xE5\"]",
    "[^\\u0020\"asd\"]", "[^\\n]", "\"^", "[^'single quote']", "^abc", "[\"\\^", "[\"a^~a\"]",
    "[\"new^\nline\"]", "[\"^\t\"]", "[\"0123456789abcdef^\x1F\"]", "\"\\^UA66D\"", "\"\"^x",
    /* documents */
    "[^\xE2\x81\xA0]", "^\xEF\xBB\xBF", "^<.>", "[^<null>]", "[1]^x", "[1]^]", "[\"asd]^",
    "^a\xC3\xA5", "[^True]", "1^]", "{\"x\": true,^", "[]^[]", "^]", "^\xEF\xBB{}", "^\xE5", "[^",
    "[^~]", "2^@", "{}^}", "{\"\":^", "{\"a\":^/*comment*/\"b\"}", "{\"a\": true} ^\"x\"", "[^'",
    "[^,", "[{^", "[\"a^", "[\"a\"^", "{^", "{^]", "[^}", "{^,", "{^[", "{\"a^", "{^'a'",
    "[\"\\^{[\"\\{[\"\\{[\"\\{", "^\xE9", "^*", "{\"a\":\"b\"}^#{}", "[^\\u000A\"\"]", "[1^",
    "[ false, nul^", "[ true, fals^", "[ false, tru^", "{\"asd\":\"asd\"^", "^\xC3\xA5",
    "^\xE2\x81\xA0", "[^\f]", "-^", "1.^", "1e^"};

#endif
