"""What could be wrong with the statements and steps on Postgres: one line each, beside the test that must notice it."""

from collections.abc import Callable
from typing import Any

from tests.faults import test_clock_jumps, test_interleavings, test_minutes, test_observations
from tests.faults.test_calendar import test_t16_t17_a_life_over_an_odd_day_has_its_hours as odd_day
from tests.ledger import test_categorizer, test_ingest, test_lists
from tests.simulation.mutating import Mutant
from tests.tables import at

type_killer = Callable[[Any], None]
ALONE = "SELECT pg_advisory_xact_lock(%(space)s, %(cluster)s);"


def story(_: Any) -> None:
    """All of the story, counted now and then, against the oracle and by the ledger's own check."""
    moments = [at("20:10"), at("21:30"), at("24:30"), at("26:00")]
    test_minutes.test_t1_any_schedule_of_minutes_leaves_the_same_cells(None, "story", moments)


# noticed within one session, by a test of a cluster in east
ON_POSTGRES: tuple[tuple[Mutant, type_killer], ...] = (
    (
        Mutant("keyed by name", "ledger/sql/goodput.sql", "p.run_id AS id, NULL AS said",
               "(SELECT min(x.id) FROM ledger_run AS x JOIN ledger_run AS y ON y.name = x.name WHERE y.id = p.run_id) AS id, NULL AS said"),
        test_observations.test_o14_a_reused_name_is_another_run,
    ),
    (
        Mutant("an upsert that replaces", "ledger/sql/hour_post.sql", "productive = nullif(coalesce(h.productive, 0) + d.productive, 0),",
               "productive = nullif(d.productive, 0),"),
        test_ingest.test_a_late_state_corrects_closed_hours_and_their_roll_ups,
    ),
    (
        Mutant("a posting that replaces", "ledger/sql/cell_post.sql", "g_productive = c.g_productive + d.g_productive",
               "g_productive = d.g_productive"),
        story,
    ),
    (
        Mutant("offsets that go on into the next hour", "ledger/sql/hour_begin.sql", "a_productive = 0, a_idle = 0,", "a_idle = 0,"),
        story,
    ),
    (
        Mutant("gone after one list", "ledger/lists.py", "at - row[0] >= GONE_AFTER", "at - row[0] >= 0"),
        test_lists.test_lists_closer_than_half_a_minute_are_no_second_list,
    ),
    (
        Mutant("an empty list counts", "ledger/lists.py", "if live < MASS_OF or 2 * lost <= live:", "if True:"),
        test_observations.test_o12_a_list_that_comes_back_empty_closes_nothing_until_it_is_confirmed,
    ),
    (
        Mutant("held flag dropped from the days", "ledger/sql/daymachine_make.sql", "0), p.machine_id, p.pool_id, sum",
               "0), greatest(p.machine_id, 1), p.pool_id, sum"),
        story,
    ),
    (
        Mutant("final while it can change", "ledger/categorizer.py", "final_to = floor_hour(began - settle)", "final_to = floor_hour(began)"),
        test_categorizer.test_hours_become_final_when_nothing_in_order_can_change_them,
    ),
    (
        Mutant("a corrected day stays clean", "ledger/recount.py", "    if days:", "    if not days:"),
        test_ingest.test_a_late_state_corrects_closed_hours_and_their_roll_ups,
    ),
    (
        Mutant("words that ran out unnoticed", "ledger/categorizer.py",
               'edges = dict(sql.rows("words_edges", cluster=at.cluster, lower=at.checked_to, upper=at.now))', "edges = {}"),
        test_ingest.test_silence_is_unobserved_and_a_later_word_takes_it_back,
    ),
    (
        Mutant("a gang counted one by one", "ledger/sql/runs_stall.sql", "SET has_stalls = true", "SET has_stalls = false"),
        test_ingest.test_a_gang_is_stalled_with_the_one_that_tells_steps,
    ),
    (
        Mutant("a late step in an earlier stay", "ledger/samples.py", "if worker.stay_since is None or told_to is None or",
               "if worker.stay_since is not None and told_to is None or"),
        test_observations.test_o1_a_late_step_tells_in_a_stay_that_is_over,
    ),
    (
        Mutant("a repetition is new", "ledger/sql/states_insert.sql", "ON CONFLICT DO NOTHING",
               "ON CONFLICT (worker_id, at, attempt, phase, content) DO UPDATE SET reason = EXCLUDED.reason"),
        test_ingest.test_sending_again_is_a_duplicate_and_changes_nothing,
    ),
    (
        Mutant("a day of the session's zone", "ledger/sql/goodput.sql", "date_trunc('day', ledger_at(%(start)s), 'UTC'), least(",
               "date_trunc('day', ledger_at(%(start)s)), least("),
        lambda east: odd_day(None, "Pacific/Kiritimati", odd_day.pytestmark[0].args[1][0][0], 52),
    ),
    (
        Mutant("days of the session's zone", "ledger/sql/check_dayrun.sql", "SELECT date_trunc('day', h.hour, 'UTC') AS day",
               "SELECT date_trunc('day', h.hour) AS day"),
        lambda east: odd_day(None, "Asia/Kolkata", odd_day.pytestmark[0].args[1][0][0], 52),
    ),
)  # fmt: skip

# noticed by sessions of their own
TOGETHER: tuple[tuple[Mutant, type_killer], ...] = (
    (
        Mutant("no clock for what posts", "ledger/sql/clock_share.sql", "SELECT pg_advisory_xact_lock_shared(%(space)s, %(cluster)s);",
               "SELECT %(space)s::int, %(cluster)s::int;"),
        lambda east: test_interleavings.test_an_hour_closes_when_nobody_posts_into_it(east, "before cell_post"),
    ),
    (
        Mutant("no clock for what closes", "ledger/sql/clock_stop.sql", ALONE, "SELECT %(space)s::int, %(cluster)s::int;"),
        test_interleavings.test_what_posts_waits_for_an_hour_that_is_being_closed,
    ),
    (
        Mutant("no lock on runs", "ledger/sql/runs_lock.sql", "FOR NO KEY UPDATE;", ";"),
        lambda east: test_interleavings.test_two_that_count_one_run_wait_for_each_other(east, "before states_insert", "r1/w0"),
    ),
    (
        Mutant("no lock on words", "ledger/sql/words_stop.sql", ALONE, "SELECT %(space)s::int, %(cluster)s::int;"),
        lambda east: test_interleavings.test_a_word_that_fills_a_gap_sees_what_is_counted_in_it_just_now(east, "before cell_post"),
    ),
    (
        Mutant("roll-ups of two days at once", "ledger/sql/rollup_alone.sql", ALONE, "SELECT %(space)s::int, %(cluster)s::int;"),
        lambda east: test_interleavings.test_two_roll_ups_at_once_leave_the_totals_of_both_days(east, "before runtotal_make"),
    ),
)  # fmt: skip

# noticed when the clock steps back
STEPPING: tuple[tuple[Mutant, Callable[[Any, Any], None]], ...] = (
    (
        Mutant("steps back with the clock", "ledger/walltime.py", "return max(_steady.take(clock, time.monotonic_ns() // 1_000_000), counted)",
               "return _steady.take(clock, time.monotonic_ns() // 1_000_000)"),
        test_clock_jumps.test_t13_words_that_had_run_out_before_the_clock_stepped_back_have_run_out,
    ),
    (
        Mutant("negative on a clock step", "ledger/sql/goodput.sql", "greatest((SELECT clock_timestamp()), ledger_counted(id))", "clock_timestamp()"),
        lambda east, walls: test_clock_jumps.test_t13_what_began_before_the_clock_stepped_back_is_never_negative(east, walls, "failed"),
    ),
)  # fmt: skip

TWO_TRANSACTIONS = Mutant(
    "amounts and state in two transactions", "ledger/recount.py", "        post(clock, postings.net())",
    "        __import__('django.db').db.transaction.on_commit(lambda: post(clock, postings.net()))",
)  # fmt: skip
