-- Pairs of conditions: the first, taken through all passes up to the one named above it, reads like the second.
-- Columns: n INT, m INT, l BIGINT, c DECIMAL(5,2), x DOUBLE, f FLOAT, s STRING, u STRING (UTF8_LCASE), b BOOLEAN, d DATE,
-- t TIMESTAMP, w TIMESTAMP_NTZ; p INT, q STRING and e DATE are partition columns.

-- fold_constants
n > 2 + 3;
n > 5;
1 = 2 OR n > 1;
FALSE OR n > 1;
n + NULL > 3;
NULL;
n > 1 / 0;
n > 1 / 0;
s = concat('a', 'b');
s = 'ab';

-- orient
5 < n;
n > 5;
5 >= n OR NULL = m;
n <= 5 OR m = NULL;
5 <=> n;
n <=> 5;

-- keep_partition_leaves
year(e) = 2024 AND year(d) = 2024;
year(e) = 2024 AND year(d) = 2024;

-- state_as_sets
n < 3.5;
n <= 3;
n = 3.5;
FALSE;
n < 1099511627776;
n IS NOT NULL;
n <=> NULL;
n IS NULL;
n = NULL;
NULL;
n IN (1, NULL);
n = 1 OR NULL;
n IN (1, 2, 3, 7);
n BETWEEN 1 AND 3 OR n = 7;
n > n;
n < n;
n != m;
NOT n = m;
b;
b = TRUE;
s LIKE 'ab%';
s LIKE 'ab%';
s LIKE 'a\_b%';
s LIKE 'a\\_b%';
s LIKE 'ab';
s = 'ab';
s LIKE '%';
s IS NOT NULL;
s LIKE 'ab%c';
s LIKE 'ab%' AND (s LIKE 'ab%c');
t >= '2024-01-01' AND t < '2024-02-01';
t >= '2024-01-01' AND t < '2024-02-01';
d < TIMESTAMP '2024-03-01 12:00:00';
d <= '2024-03-01';

-- combine_date_fields
year(d) = 2024 AND month(d) = 2;
d BETWEEN '2024-02-01' AND '2024-02-29';
year(d) IN (2023, 2024) AND month(d) = 12 AND day(d) = 31;
d IN ('2023-12-31', '2024-12-31');
month(d) = 2 AND n > 1;
month(d) = 2 AND n >= 2;

-- unwrap_functions
year(d) = 2024;
d BETWEEN '2024-01-01' AND '2024-12-31';
to_date(t) = '2024-03-01';
t >= '2024-03-01' AND t < '2024-03-02';
date_add(d, 7) >= '2024-03-08';
d >= '2024-03-01';
floor(c) = 3;
c BETWEEN 3.00 AND 3.99;
floor(x) = 3;
x < -9.223372036854776e+18 OR (x >= 3.0D AND x < 4.0D) OR x >= 9.223372036854776e+18;
left(s, 2) = 'ab';
s LIKE 'ab%';
lower(s) = 'a';
lower(s) = 'a';
unix_timestamp(t) = 5;
t >= '1970-01-01 00:00:05' AND t < '1970-01-01 00:00:06';
cast(d AS TIMESTAMP) >= '2024-01-01 12:00:00';
d >= '2024-01-02';

-- push_not
NOT (n < 5 OR n > 9);
n >= 5 AND n <= 9;
NOT (n IN (1, NULL));
n != 1 AND NULL;
NOT (x < 5);
x >= 5.0D;
(n < 3) IS NULL;
n IS NULL;
(n < m) IS NULL;
n IS NULL OR m IS NULL;
NOT (NOT (n > 1));
n >= 2;

-- merge_ranges
n > 5 AND n < 9;
n BETWEEN 6 AND 8;
n > 5 AND n < 3;
FALSE;
n = 1 OR n = 2 OR m = 3 OR n = 7;
(n BETWEEN 1 AND 2 OR n = 7) OR m = 3;
x >= 1 AND x <= 9;
x BETWEEN 1.0D AND 9.0D;
x >= 1 AND x != 9;
(x >= 1.0D AND x < 9.0D) OR x > 9.0D;
coalesce(n, 0) = 0;
n = 0 OR n IS NULL;
FALSE AND n < 3;
FALSE;
TRUE AND n < 3;
n <= 2;
NULL AND n < 3;
NULL AND n <= 2;

-- factor_or
(n = 1 AND x > 5) OR (n = 1 AND t IS NULL);
n = 1 AND (x > 5.0D OR t IS NULL);
n = 1 OR (n = 1 AND m = 2);
n = 1;
(n = 1 AND m = 2) OR (l = 3 AND m = 4);
n = 1 AND m = 2 OR l = 3 AND m = 4;

-- limit_lists
n IN (1, 3, 5);
n IN (1, 3, 5);
