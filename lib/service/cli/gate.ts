import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import { StartError } from '#lib/service/kit/errors.ts'
import type { CommandLine } from './command-line.ts'

interface Surroundings {
  apiKey: string | undefined
  /** File whose Markdown GitHub Actions shows with the run. */
  summaryFile: string | undefined
}

interface Run {
  a: { agent_name: string; model_name: string | null; job_id: string }
  passed: boolean
  decided: boolean
  reason: string
}

interface Answer {
  complete: boolean
  jobs: readonly { id: string; name: string }[]
  gate: { passed: boolean; decided: boolean; sentence: string; runs: readonly Run[] }
}

/** Judges a comparison for CI: prints a sentence and a table, writes the reports, and sets the exit status. */
export const gate = async ({ gate: given, dataDir }: CommandLine, { apiKey, summaryFile }: Surroundings) => {
  if (!given.jobs || !given.query.gate) throw new StartError('gate requires --jobs and --rule (see --help)')
  const read = reportReader(given.console, apiKey || ownKey(dataDir, given.console), given.jobs, given.query)
  const answer = await readUntilComplete(read, given.waitMinutes * 60_000)
  const { gate, jobs } = answer
  const names = new Map(jobs.map(({ id, name }) => [id, name]))
  console.log(gate.sentence)
  for (const { a, passed, decided, reason } of gate.runs) {
    const result = passed ? 'passed' : decided ? 'failed' : 'not decided'
    const agent = a.model_name ? `${a.agent_name} (${a.model_name})` : a.agent_name
    console.log(
      `${result.padEnd(11)}  ${agent} in ${names.get(a.job_id) ?? a.job_id}: ${reason}`.replace(/\p{Cc}/gu, ''),
    )
  }
  if (given.junit !== undefined) save(writeFileSync, given.junit, await read('junit'))
  if (given.markdown !== undefined || summaryFile) {
    const markdown = await read('md')
    if (given.markdown !== undefined) save(writeFileSync, given.markdown, markdown)
    if (summaryFile) save(appendFileSync, summaryFile, markdown)
  }
  process.exitCode = gate.passed ? 0 : gate.decided ? 1 : 2
}

/** The key of the local service is only sent to a console on this host. */
const ownKey = (dataDir: string, console: string): string => {
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(console).hostname)
  try {
    if (isLocal) return readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
  } catch {
    // Reported below.
  }
  throw new StartError('Set DEVDECK_API_KEY to an API key that may read the jobs')
}

const save = (write: (path: string, text: string) => void, path: string, text: string) => {
  try {
    write(path, text)
  } catch (error) {
    throw new StartError(`Could not write ${path}: ${(error as Error).message}`)
  }
}

type ReadReport = (format: 'json' | 'junit' | 'md') => Promise<string>

const pollMs = 5_000

const readUntilComplete = async (read: ReadReport, waitMs: number): Promise<Answer> => {
  const end = performance.now() + waitMs
  for (;;) {
    const isLast = performance.now() >= end
    const answer = await read('json').catch((error: unknown) => {
      if (isLast || !(error instanceof TemporaryError)) throw error
    })
    if (answer !== undefined) {
      const parsed = JSON.parse(answer) as Answer
      if (parsed.complete || isLast) return parsed
    }
    await pause(Math.min(pollMs, Math.max(0, end - performance.now())))
  }
}

class TemporaryError extends StartError {}

const reportReader = (console: string, key: string, jobs: string, query: Record<string, string>): ReadReport => {
  let compared = jobs
  const ask = async (format: string) => {
    const url = new URL('/api/benchmark-jobs/compare/report', console)
    url.search = `${new URLSearchParams({ ...query, jobs: compared, format })}`
    // Redirects aren't followed, which could send the key elsewhere.
    const { statusCode, headers, body } = await request(url, {
      headers: { authorization: `Bearer ${key}` },
      headersTimeout: 120_000,
    }).catch((error: Error) => {
      throw new TemporaryError(`Cannot reach the console at ${url.origin}: ${error.message || error.name}`)
    })
    return { statusCode, headers, text: await body.text(), origin: url.origin }
  }
  return async (format) => {
    let answer = await ask(format)
    // A baseline job is usually not repeated in --jobs.
    if (answer.statusCode === 400 && problemOf(answer.text)?.field === 'baseline' && query.baseline) {
      compared = `${query.baseline},${jobs}`
      const second = await ask(format)
      if (second.statusCode === 200 || problemOf(second.text)?.field !== `jobs.${query.baseline}`) answer = second
      else compared = jobs
    }
    const { statusCode, headers, text, origin } = answer
    const isJson = `${headers['content-type']}`.startsWith('application/json')
    if (statusCode === 200 && isJson === (format === 'json')) return text
    if (statusCode >= 300 && statusCode < 400)
      throw new StartError(
        `The console at ${origin} redirects to ${headers.location}; use its own address for --console`,
      )
    const problem = problemOf(text)
    if (statusCode === 401)
      throw new StartError(`The console at ${origin} rejected the API key: ${problem?.message ?? 401}`)
    if (!problem)
      throw new StartError(`${origin} isn't a Devdeck console: unexpected response with status ${statusCode}`)
    const isTemporary = statusCode === 429 || statusCode >= 500
    throw new (isTemporary ? TemporaryError : StartError)(
      `${problem.message}${problem.field ? ` (${problem.field})` : ''}`,
    )
  }
}

const problemOf = (text: string): { message: string; field?: string } | undefined => {
  try {
    const { message, field } = JSON.parse(text)
    return typeof message === 'string' ? { message, field } : undefined
  } catch {
    return undefined
  }
}
