/* Memory for the kernel's allocators, of so many pages, in tests on the host. */
#pragma once

extern char *pages_base;

void pages_set_up(unsigned pages);
void pages_tear_down(void);
