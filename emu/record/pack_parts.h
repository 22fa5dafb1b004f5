/* What the writer and the reader of a container agree on. */
#ifndef NCUBE_PACK_PARTS_H
#define NCUBE_PACK_PARTS_H

#define PACK_FIRST         "recording.json" /* the first entry */
#define PACK_END           "end.json"       /* the last one, */
#define PACK_DIGEST_FORMAT ", \"sha256\": \"%s\"}" /* which ends so */

#endif
