/* What the writer and the reader of a container agree on. */
#ifndef NCUBE_CONTAINER_PARTS_H
#define NCUBE_CONTAINER_PARTS_H

#define CONTAINER_FIRST         "recording.json"        /* the first entry */
#define CONTAINER_END           "end.json"              /* the last one, */
#define CONTAINER_DIGEST_FORMAT ", \"sha256\": \"%s\"}" /* which ends so */

#endif
