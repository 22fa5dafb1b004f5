/* What a user may have meant by a word that is unknown: the name that is nearest to it. */
#pragma once

/* Returns the better one of `best` (NULL: none yet) and `candidate`, or NULL if neither is near to the word: at most
 * two letters missing, added, wrong or exchanged with the next one, or the rest of a name missing. To be called with
 * each candidate in turn. */
const char *nearest_word(const char *word, const char *best, const char *candidate);
