-- The sum of bigints as a bigint, which fails where that is too small: for one run or machine it never is, and a numeric
-- made of each of a hundred thousand sums takes longer than the sums. Null is nothing; a sum of nothing is null.
CREATE AGGREGATE ledger_sum(bigint) (
    SFUNC = int8pl, STYPE = bigint, COMBINEFUNC = int8pl, PARALLEL = SAFE
);
