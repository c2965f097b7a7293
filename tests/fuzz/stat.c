/* The text of stat and status, as procfs might never write it. */
#include "proc.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_proc_stat stat;
	struct sb_proc_status status;

	if (sb_proc_parse_stat((const char *)data, size, &stat) == 0 &&
	    strnlen(stat.comm, sizeof(stat.comm)) == sizeof(stat.comm))
		__builtin_trap();
	(void)sb_proc_parse_status((const char *)data, size, &status);
	return 0;
}
