-- Functions with the meaning of Spark's, where DuckDB has none or another meaning. `analytics.translate.expressions` uses them.

-- Whether any or all elements are true; null if that depends on nulls.
CREATE OR REPLACE MACRO list_any(l) AS list_reduce(l, lambda a, b: a OR b, false);
CREATE OR REPLACE MACRO list_all(l) AS list_reduce(l, lambda a, b: a AND b, true);

-- Lists. The first of equal elements stays; a null is equal to a null.
CREATE OR REPLACE MACRO list_unique(l) AS list_filter(l, lambda e, i: list_position(l, e) = i);
CREATE OR REPLACE MACRO list_except(a, b) AS
  CASE WHEN b IS NULL THEN NULL ELSE list_filter(list_unique(a), lambda e: list_position(b, e) IS NULL) END;
CREATE OR REPLACE MACRO list_without(l, x) AS CASE WHEN x IS NULL THEN NULL ELSE list_filter(l, lambda e: e IS DISTINCT FROM x) END;
CREATE OR REPLACE MACRO list_has_null(l) AS list_position(l, NULL) IS NOT NULL;
CREATE OR REPLACE MACRO list_contains_or_null(l, x) AS
  CASE WHEN l IS NULL OR x IS NULL THEN NULL WHEN list_contains(l, x) THEN true WHEN list_has_null(l) THEN NULL ELSE false END;
CREATE OR REPLACE MACRO list_overlaps(a, b) AS
  CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN list_has_any(list_filter(a, lambda e: e IS NOT NULL), b) THEN true
       WHEN len(a) > 0 AND len(b) > 0 AND (list_has_null(a) OR list_has_null(b)) THEN NULL ELSE false END;
CREATE OR REPLACE MACRO list_item(l, i) AS CASE WHEN i >= 0 THEN list_extract(l, i + 1) END;
CREATE OR REPLACE MACRO list_part(l, s, n) AS
  CASE WHEN n < 0 OR s = 0 THEN NULL WHEN s > 0 THEN list_slice(l, s, s + n - 1)
       WHEN -s > len(l) THEN list_slice(l, 1, 0) ELSE list_slice(l, len(l) + s + 1, len(l) + s + n) END;
CREATE OR REPLACE MACRO number_series
  (a, b) AS CASE WHEN a <= b THEN generate_series(a, b) ELSE generate_series(a, b, -1) END,
  (a, b, step) AS generate_series(a, b, step);
CREATE OR REPLACE MACRO list_flattened(l) AS CASE WHEN NOT list_has_null(l) THEN flatten(l) END;
-- list_zip lengthens the shorter list itself, but then the fields of a struct in its new items are not null.
CREATE OR REPLACE MACRO lists_zipped(a, b) AS
  CASE WHEN a IS NULL OR b IS NULL THEN NULL
       ELSE list_zip(list_resize(a, greatest(len(a), len(b))), list_resize(b, greatest(len(a), len(b)))) END;
CREATE OR REPLACE MACRO list_known(l) AS list_filter(l, lambda e: e IS NOT NULL);
CREATE OR REPLACE MACRO list_text(l, s) AS CASE WHEN l IS NOT NULL AND s IS NOT NULL THEN coalesce(array_to_string(l, s), '') END;

-- Maps. The last of several values of a key wins.
CREATE OR REPLACE MACRO map_last_wins(entries) AS
  CASE WHEN len(list_distinct(list_transform(entries, lambda e: e.key))) = len(entries) THEN map_from_entries(entries)
       ELSE map_from_entries(list_transform(
         list_unique(list_transform(entries, lambda e: e.key)),
         lambda k: {'key': k, 'value': list_extract(list_filter(entries, lambda e: e.key = k), -1).value})) END;
CREATE OR REPLACE MACRO map_from_pairs(pairs) AS
  map_last_wins(list_transform(pairs, lambda p: {'key': struct_extract_at(p, 1), 'value': struct_extract_at(p, 2)}));
CREATE OR REPLACE MACRO text_to_map(t, a, b) AS
  map_last_wins(list_transform(str_split(t, a), lambda p:
    {'key': split_part(p, b, 1), 'value': CASE WHEN contains(p, b) THEN substr(p, instr(p, b) + length(b)) END}));

-- Numbers. A sum that is too large wraps around, as in Java.
CREATE OR REPLACE MACRO wrapped(n) AS
  (((n + 9223372036854775808::HUGEINT) & 18446744073709551615::HUGEINT) - 9223372036854775808::HUGEINT)::BIGINT;
CREATE OR REPLACE MACRO add_wrapped(a, b) AS wrapped(a::HUGEINT + b::HUGEINT);
CREATE OR REPLACE MACRO subtract_wrapped(a, b) AS wrapped(a::HUGEINT - b::HUGEINT);
CREATE OR REPLACE MACRO multiply_wrapped(a, b) AS wrapped(a::HUGEINT * b::HUGEINT);
CREATE OR REPLACE MACRO abs_wrapped(a) AS wrapped(abs(a::HUGEINT));
CREATE OR REPLACE MACRO remainder_or_null(a, b) AS CASE WHEN b = -1 THEN a - a WHEN b != 0 THEN a % b END;
CREATE OR REPLACE MACRO bucket_of(n) AS CASE WHEN n > 0 THEN (n - 1) // 32768 + 1 ELSE n // 32768 END;
CREATE OR REPLACE MACRO double_to_bigint(d) AS
  CASE WHEN isnan(d) THEN 0 WHEN d >= 9223372036854775807 THEN 9223372036854775807 WHEN d <= -9223372036854775808
       THEN (-9223372036854775807 - 1) ELSE trunc(d)::BIGINT END;
CREATE OR REPLACE MACRO text_to_bigint(t) AS
  TRY_CAST(nullif(regexp_extract(t, '^[\x00-\x20\x7f]*([+-]?[0-9]*)(?:\.[0-9]*)?[\x00-\x20\x7f]*$', 1), '') AS BIGINT);
CREATE OR REPLACE MACRO text_to_double(t) AS
  CASE WHEN regexp_full_match(trim(t), '[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?') THEN TRY_CAST(rtrim(trim(t), 'fFdD') AS DOUBLE)
       WHEN regexp_full_match(lower(trim(t)), 'nan|[+-]?inf(inity)?') THEN TRY_CAST(trim(t) AS DOUBLE) END;

-- Texts and JSON.
CREATE OR REPLACE MACRO text_replace(t, a, b) AS CASE WHEN a = '' THEN t ELSE replace(t, a, b) END;
CREATE OR REPLACE MACRO struct_from_json(t, shape) AS from_json(CASE WHEN json_valid(t) THEN t WHEN trim(t) != '' THEN '{}' END, shape);
CREATE OR REPLACE MACRO list_from_json(t, shape) AS from_json(CASE WHEN json_valid(t) THEN t END, shape);
CREATE OR REPLACE MACRO json_text(t, path) AS json_extract_string(CASE WHEN json_valid(t) THEN t END, path);
