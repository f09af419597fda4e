import { MEMORY_VIEWS_HINT } from "./memory-views.ts";

// What `claw sql` sees. The tables are filled from the journals before a person's query runs; the views are the contract.
// The moment is called `time`: "at" is a keyword of DuckDB and would have to be quoted.
// Comparisons put `body->>'…'` in parentheses: the arrow binds more loosely than `=`.

/** Shown as the hint of every refused query. */
export const VIEWS_HINT = [
  "views:",
  "events(session, seq, time, kind, body)",
  "sessions(session, title, workspace, model, opened_at, changed_at, events, turns, calls)",
  "turns(session, turn_id, model, outcome, started_at, ended_at, ms, steps, calls, input_tokens, output_tokens, failure)",
  "calls(session, turn_id, call_id, tool, status, ms, args, output, failure, time)",
  "hooks(session, turn_id, call_id, point, hook, verdict, because, ms, ran, time)",
  "approvals(session, turn_id, approval_id, call_id, tool, args, permission, principal, because, outcome, scope, asked_at, answered_at)",
  "permissions(session, turn_id, principal, permission, resolved, allowed, source, because, ms, left_out, source_hash, time)",
  "notes(memory_id, text, author, scope, type, importance, labels, session, time, expires_at, supersedes, superseded_by, forgotten)",
  "broken(session, lines)",
  ...MEMORY_VIEWS_HINT,
].join("\n");

/** Comes first. One row a line; `kind` is null where the line is no event. */
export const EVENTS_TABLE = `
  CREATE MACRO short_name(name, prefix) AS lower(replace(name, prefix, ''));
  CREATE MACRO time_of(ms) AS TRY(epoch_ms(TRY_CAST(TRY_CAST(ms AS DOUBLE) AS BIGINT)));
  CREATE TABLE journal_events(session VARCHAR, seq UINTEGER, time TIMESTAMP, kind VARCHAR, body JSON);`;

/** Fills the table from files in the current folder. */
export function loadEvents(files: readonly string[], limitBytes: number): string {
  const list = files.map(sqlText).join(", ");
  return `INSERT INTO journal_events
    SELECT regexp_extract(filename, '([^/]+)\\.jsonl$', 1), TRY_CAST(json->>'seq' AS UINTEGER), time_of(json->>'atMs'),
      lower(regexp_replace(body_key, '([A-Z])', '_\\1', 'g')), json_extract(json, '$."' || body_key || '"')
    FROM (SELECT filename, json, list_filter(json_keys(json), lambda key: key NOT IN ('seq', 'atMs', 'hash'))[1] AS body_key
      FROM read_ndjson_objects([${list}], ignore_errors = true, filename = true, maximum_object_size = ${limitBytes}))`;
}

export function loadBrokenFile(file: string): string {
  return `INSERT INTO journal_events(session) VALUES (${sqlText(file.replace(/\.jsonl$/, ""))})`;
}

function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const EVENTS = `
  CREATE VIEW events AS SELECT session, seq, time, kind, body FROM journal_events WHERE kind IS NOT NULL;
  CREATE VIEW broken AS SELECT session, count(*) AS lines FROM journal_events WHERE kind IS NULL GROUP BY session;`;

const TURNS = `
  CREATE VIEW turns AS
    WITH ended AS (SELECT session, body->>'turnId' AS turn_id, max(time) AS time, arg_max(body, seq) AS body
        FROM events WHERE kind = 'turn_ended' GROUP BY ALL),
      replies AS (SELECT session, body->>'turnId' AS turn_id, count(*) AS steps,
        sum(TRY_CAST(body->'usage'->>'inputTokens' AS BIGINT)) AS input_tokens,
        sum(TRY_CAST(body->'usage'->>'outputTokens' AS BIGINT)) AS output_tokens
        FROM events WHERE kind = 'reply_ended' GROUP BY ALL),
      ran AS (SELECT session, body->>'turnId' AS turn_id, count(*) AS calls FROM events WHERE kind = 'tool_call_ended' GROUP BY ALL)
    SELECT s.session, s.body->>'turnId' AS turn_id, s.body->>'model' AS model,
      coalesce(short_name(ended.body->>'outcome', 'TURN_OUTCOME_'), 'running') AS outcome,
      s.time AS started_at, ended.time AS ended_at, date_diff('millisecond', s.time, ended.time) AS ms,
      coalesce(steps, 0) AS steps, coalesce(calls, 0) AS calls,
      coalesce(input_tokens, 0) AS input_tokens, coalesce(output_tokens, 0) AS output_tokens,
      ended.body->'failure'->>'message' AS failure
    FROM events s
    LEFT JOIN ended ON ended.session = s.session AND ended.turn_id = (s.body->>'turnId')
    LEFT JOIN replies ON replies.session = s.session AND replies.turn_id = (s.body->>'turnId')
    LEFT JOIN ran ON ran.session = s.session AND ran.turn_id = (s.body->>'turnId')
    WHERE s.kind = 'turn_started';`;

const CALLS = `
  CREATE VIEW calls AS
    WITH wanted AS (SELECT session, body->'content'->'toolCall'->>'callId' AS call_id, arg_max(body->'content'->'toolCall'->'args', seq) AS args
        FROM events WHERE kind = 'block_ended' AND (body->'content'->'toolCall') IS NOT NULL GROUP BY ALL),
      started AS (SELECT session, body->>'callId' AS call_id, arg_max(body, seq) AS body, max(time) AS time
        FROM events WHERE kind = 'tool_call_started' GROUP BY ALL),
      ended AS (SELECT session, body->>'callId' AS call_id, arg_max(body, seq) AS body, max(time) AS time
        FROM events WHERE kind = 'tool_call_ended' GROUP BY ALL)
    SELECT session, coalesce(started.body->>'turnId', ended.body->>'turnId') AS turn_id, call_id,
      coalesce(ended.body->>'tool', started.body->>'tool') AS tool,
      coalesce(short_name(ended.body->>'status', 'TOOL_CALL_STATUS_'), 'running') AS status,
      TRY_CAST(ended.body->>'ms' AS DOUBLE) AS ms, coalesce(started.body->'args', wanted.args) AS args,
      ended.body->>'output' AS output, ended.body->'failure'->>'message' AS failure, coalesce(started.time, ended.time) AS time
    FROM started FULL JOIN ended USING (session, call_id) LEFT JOIN wanted USING (session, call_id);`;

const HOOKS = `
  CREATE VIEW hooks AS
    SELECT session, body->>'turnId' AS turn_id, body->>'callId' AS call_id, body->>'point' AS point, body->>'hook' AS hook,
      short_name(body->>'verdict', 'HOOK_VERDICT_') AS verdict, body->>'because' AS because,
      TRY_CAST(body->>'ms' AS DOUBLE) AS ms, TRY_CAST(body->>'ran' AS BOOLEAN) AS ran, time
    FROM events WHERE kind = 'hook_ran';`;

const PERMISSIONS = `
  CREATE VIEW permissions AS
    SELECT nullif(body->>'sessionId', '') AS session, nullif(body->>'turnId', '') AS turn_id, body->>'principal' AS principal,
      body->>'permission' AS permission, body->>'resolved' AS resolved, TRY_CAST(body->>'allowed' AS BOOLEAN) AS allowed,
      short_name(body->>'source', 'PERMISSION_SOURCE_') AS source, body->>'because' AS because,
      TRY_CAST(body->>'ms' AS DOUBLE) AS ms, TRY_CAST(body->>'leftOut' AS UINTEGER) AS left_out,
      body->>'sourceHash' AS source_hash, time
    FROM events WHERE kind = 'permission_decided';`;

const APPROVALS = `
  CREATE VIEW approvals AS
    WITH answered AS (SELECT session, body->>'approvalId' AS approval_id, arg_min(body, seq) AS body, min(time) AS time, min(kind) AS kind
        FROM events WHERE kind IN ('approval_answered', 'approval_expired') GROUP BY ALL)
    SELECT a.session, a.body->>'turnId' AS turn_id, a.body->>'approvalId' AS approval_id, a.body->>'callId' AS call_id,
      a.body->>'tool' AS tool, a.body->'args' AS args, nullif(a.body->>'permission', '') AS permission,
      nullif(a.body->>'principal', '') AS principal, a.body->>'because' AS because,
      CASE WHEN answered.kind IS NULL THEN 'open' WHEN answered.kind = 'approval_expired' THEN 'expired'
        WHEN TRY_CAST(answered.body->>'allowed' AS BOOLEAN) THEN 'allowed' ELSE 'refused' END AS outcome,
      short_name(answered.body->>'scope', 'APPROVAL_SCOPE_') AS scope, a.time AS asked_at, answered.time AS answered_at
    FROM events a LEFT JOIN answered ON answered.session = a.session AND answered.approval_id = (a.body->>'approvalId')
    WHERE a.kind = 'approval_asked';`;

const SESSIONS = `
  CREATE VIEW sessions AS
    WITH spoken AS (SELECT session, split_part(arg_min(body->>'text', seq), chr(10), 1) AS title FROM events WHERE kind = 'user_spoke' GROUP BY ALL),
      grown AS (SELECT session, max(time) AS changed_at, count(*) AS events, count(*) FILTER (kind = 'turn_started') AS turns,
        count(*) FILTER (kind = 'tool_call_ended') AS calls FROM events GROUP BY ALL)
    SELECT session, coalesce(nullif(o.body->>'title', ''), spoken.title, '') AS title, o.body->>'workspace' AS workspace,
      o.body->>'model' AS model, o.time AS opened_at, changed_at, grown.events, grown.turns, grown.calls
    FROM events o JOIN grown USING (session) LEFT JOIN spoken USING (session)
    WHERE o.kind = 'session_opened' AND o.seq = 1;`;

const NOTES = `
  CREATE VIEW notes AS
    WITH gone AS (SELECT DISTINCT body->>'memoryId' AS memory_id FROM events WHERE kind = 'memory_forgotten'),
      noted AS (SELECT body->>'memoryId' AS memory_id, nullif(body->>'supersedes', '') AS supersedes, seq, time, body
        FROM events WHERE kind = 'memory_remembered'),
      later AS (SELECT supersedes AS memory_id, arg_max(memory_id, seq) AS superseded_by
        FROM noted ANTI JOIN gone USING (memory_id) WHERE supersedes IS NOT NULL GROUP BY ALL)
    SELECT memory_id, body->>'text' AS text, body->>'author' AS author, coalesce(nullif(body->>'scope', ''), 'person') AS scope,
      coalesce(nullif(body->>'type', ''), 'general') AS type, coalesce(nullif(body->>'importance', ''), 'normal') AS importance,
      coalesce(TRY_CAST(body->'labels' AS VARCHAR[]), []) AS labels, body->>'sessionId' AS session, time,
      CASE WHEN TRY_CAST(body->>'expiresAtMs' AS DOUBLE) > 0 THEN time_of(body->>'expiresAtMs') END AS expires_at,
      supersedes, superseded_by, gone.memory_id IS NOT NULL AS forgotten
    FROM noted LEFT JOIN gone USING (memory_id) LEFT JOIN later USING (memory_id);`;

/** Everything after the lines are loaded, before the database is locked. */
export const VIEWS = [EVENTS, TURNS, CALLS, HOOKS, PERMISSIONS, APPROVALS, SESSIONS, NOTES].join("\n");
