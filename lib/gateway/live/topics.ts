import { createHash } from 'node:crypto'
import type * as z from 'zod/mini'
import { ApiError } from '#lib/client/api-error.ts'
import { pause } from '#lib/client/backoff.ts'
import type { Client } from '#lib/client/client.ts'
import { AxonEvent, axons } from '#lib/contract/axons.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { executions, OutputChunk } from '#lib/contract/executions.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { LogRecord, logs } from '#lib/contract/logs.ts'
import type { LiveEndpoint } from '#lib/protocol/live.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { lacks, noteMissing } from '../support/service-support.ts'

/** An item as JSON with its position, or the position to resync from. */
export type Step = { text: string; position: string } | { resync: string }

export interface TopicRequest {
  client: Client
  holder: KeyHolder
  /** Passed to the endpoint as is; the service validates them. */
  params: never
  query: never
  /** Resume position; undefined for the beginning. */
  position: string | undefined
  signal: AbortSignal
}

export interface Topic {
  endpoint: Endpoint
  read(request: TopicRequest): AsyncIterable<Step>
}

type AnyTopic = Exclude<LiveEndpoint, 'alerts.watch'>

const jobPollMs = 2_000
const runPollMs = 1_000

/** Skips items that are not objects, so that pages survive them. */
async function* readable<S extends z.ZodMiniType>(schema: S, items: AsyncIterable<unknown>) {
  for await (const item of items)
    if (typeof item === 'object' && item && !Array.isArray(item)) yield readLeniently(schema, item)
}

type Output = (call: {
  params: { devbox_id: string; execution_id: string }
  query: { offset: number }
  signal: AbortSignal
}) => AsyncIterable<OutputChunk>

const byOffset = (outputOf: (client: Client) => Output) =>
  async function* ({ client, params, position, signal }: TopicRequest): AsyncGenerator<Step> {
    let offset = Number(position ?? 0)
    for await (const chunk of readable(OutputChunk, outputOf(client)({ params, query: { offset }, signal }))) {
      offset = chunk.offset || offset + Buffer.byteLength(chunk.output)
      yield { text: JSON.stringify(chunk), position: String(offset) }
    }
  }

/** Times between polls of a log; longer while nothing happens. */
const logPoll = { firstMs: 2_000, maxMs: 10_000 }

const missingStatuses = [401, 404, 405, 501]

/** Follows the log. Where the service has no such stream, polls its list. */
async function* logRecords({ client, holder, params, signal }: TopicRequest): AsyncGenerator<unknown> {
  if (!lacks(holder, logs.tail)) {
    try {
      return yield* client.logs.tail({ params, signal })
    } catch (error) {
      if (!(error instanceof ApiError) || !missingStatuses.includes(error.status)) throw error
    }
  }
  let first = ''
  for (let sent = 0, quiet = 0; !signal.aborted; ) {
    const { logs: records } = await client.logs.list({ params, signal })
    const nowFirst = JSON.stringify(records[0] ?? '')
    // The list worked, so only the stream is missing.
    noteMissing(holder, logs.tail)
    if (sent > records.length || (sent > 0 && nowFirst !== first)) throw new ApiError('timeout', 408, 'Log was pruned')
    first = nowFirst
    quiet = records.length > sent ? 0 : quiet + 1
    yield* records.slice(sent)
    sent = records.length
    await pause(Math.min(logPoll.firstMs * 2 ** quiet, logPoll.maxMs), signal)
  }
}

// Position: record count and a hash of the first record. The log always starts with everything stored; a different
// first record means that older ones were pruned. The service cannot filter by source, so this does.
async function* byCount(request: TopicRequest): AsyncGenerator<Step> {
  const { query, position } = request
  const [known, knownFirst] = position?.split(':') ?? []
  const { source, commands } = (query ?? {}) as { source?: string; commands?: boolean }
  const isWanted = (record: LogRecord) =>
    source === undefined || record.source === source || (commands === true && (record.cmd ?? record.exit_code) != null)
  let skipped = Number(known) || 0
  let count = 0
  let first = ''
  for await (const record of readable(LogRecord, logRecords(request))) {
    const text = JSON.stringify(record)
    if (count === 0) {
      first = createHash('sha256').update(text).digest('base64url').slice(0, 12)
      if (skipped > 0 && first !== knownFirst) {
        skipped = 0
        yield { resync: '' }
      }
    }
    count += 1
    if (count > skipped && isWanted(record)) yield { text, position: `${count}:${first}` }
  }
}

/** Position: sequence. Drops repeated events. */
async function* bySequence({ client, params, position, signal }: TopicRequest): AsyncGenerator<Step> {
  let last = position === undefined ? undefined : Number(position)
  const events = client.axons.subscribe({ params, query: { after_sequence: last }, signal })
  for await (const event of readable(AxonEvent, events)) {
    if (Number.isNaN(event.sequence) || event.sequence <= (last ?? -1)) continue
    last = event.sequence
    yield { text: JSON.stringify(event), position: String(last) }
  }
}

/** No positions: each response is complete. */
const byAnswer = (read: (request: TopicRequest) => Promise<unknown>, everyMs: number) =>
  async function* (request: TopicRequest): AsyncGenerator<Step> {
    for (let lastText = ''; !request.signal.aborted; await pause(everyMs, request.signal)) {
      const text = JSON.stringify(await read(request))
      if (text !== lastText) yield { text, position: '' }
      lastText = text
    }
  }

export const topics: Record<AnyTopic, Topic> = {
  'executions.streamStdout': {
    endpoint: executions.streamStdout,
    read: byOffset((client) => client.executions.streamStdout),
  },
  'executions.streamStderr': {
    endpoint: executions.streamStderr,
    read: byOffset((client) => client.executions.streamStderr),
  },
  'logs.tail': { endpoint: logs.tail, read: byCount },
  'axons.subscribe': { endpoint: axons.subscribe, read: bySequence },
  'benchmarkJobs.get': {
    endpoint: benchmarkJobs.get,
    read: byAnswer(({ client, params, signal }) => client.benchmarkJobs.get({ params, signal }), jobPollMs),
  },
  'benchmarkRuns.get': {
    endpoint: benchmarkRuns.get,
    read: byAnswer(({ client, params, signal }) => client.benchmarkRuns.get({ params, signal }), runPollMs),
  },
  'benchmarkRuns.scenarioRuns': {
    endpoint: benchmarkRuns.scenarioRuns,
    read: byAnswer(
      ({ client, params, query, signal }) => client.benchmarkRuns.scenarioRuns({ params, query, signal }),
      jobPollMs,
    ),
  },
}
