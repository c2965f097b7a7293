/* Names held back until there are enough of them. */
#include "pile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct taken {
	size_t count;
	size_t wrong;
};

static void take_numbered(const char *name, void *closure)
{
	struct taken *taken = closure;
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "tmp%08zu", taken->count++);
	taken->wrong += strcmp(wanted, name) != 0;
}

static void hands_out_what_came_in_its_order(void **state)
{
	struct sb_pile pile = {0};
	struct taken taken = {0};

	(void)state;
	for (unsigned int i = 0; i < 10000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "tmp%08u", i);
		assert_int_equal(sb_pile_add(&pile, name, i + 1), 0);
		assert_int_equal(pile.count, i + 1);
	}
	sb_pile_release(&pile, take_numbered, &taken);
	assert_int_equal(pile.count, 0);
	assert_int_equal(taken.count, 10000);
	assert_int_equal(taken.wrong, 0);
	/* Only once. */
	sb_pile_release(&pile, take_numbered, &taken);
	assert_int_equal(taken.count, 10000);
	/* What comes later is held back anew, be it the same. */
	assert_int_equal(sb_pile_add(&pile, "tmp00000000", 1), 0);
	assert_int_equal(pile.count, 1);
	sb_pile_free(&pile);
}

static void counts_an_entry_that_is_listed_twice_once(void **state)
{
	struct sb_pile pile = {0};
	struct taken taken = {0};

	(void)state;
	assert_int_equal(sb_pile_add(&pile, "tmp00000000", 7), 0);
	assert_int_equal(sb_pile_add(&pile, "tmp00000000", 7), 0);
	assert_int_equal(sb_pile_add(&pile, "tmprenamed0", 7), 0);
	assert_int_equal(pile.count, 1);
	assert_int_equal(sb_pile_add(&pile, "tmp00000001", 8), 0);
	assert_int_equal(pile.count, 2);
	sb_pile_release(&pile, take_numbered, &taken);
	assert_int_equal(taken.count, 2);
	assert_int_equal(taken.wrong, 0);
	sb_pile_free(&pile);
}

static void an_empty_one_hands_out_nothing(void **state)
{
	struct sb_pile pile = {0};
	struct taken taken = {0};

	(void)state;
	sb_pile_release(&pile, take_numbered, &taken);
	assert_int_equal(taken.count, 0);
	sb_pile_free(&pile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_out_what_came_in_its_order),
		cmocka_unit_test(counts_an_entry_that_is_listed_twice_once),
		cmocka_unit_test(an_empty_one_hands_out_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
