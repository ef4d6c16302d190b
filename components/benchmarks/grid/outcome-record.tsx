import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import * as z from 'zod/mini'
import { problemOf } from '#components/ui/problem.ts'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { Select } from '#components/ui/select.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { plainLine, readLines } from '#lib/browser/text/console-text.ts'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import { formatScore } from '../job-figures.ts'
import { runLogQueries } from '../logs/queries.ts'
import { runLogsPath } from '../run/search-params.ts'

interface OutcomeRecordProps {
  runId: string
  scenarioRunId: string
  /** Refreshes the archive for an attempt that isn't in it yet. */
  isActive: boolean
}

export const OutcomeRecord = ({ runId, scenarioRunId, isActive }: OutcomeRecordProps) => {
  const { data, error } = useQuery(runLogQueries.list(runId, { isActive, isFollowed: isActive, staleAtMs: 0 }))
  if (error) return <p className="text-muted">Couldn't load logs: {problemOf(error).message}</p>
  const files = filesOfAttempt(data?.archive?.files ?? [], scenarioRunId)
  if (files.length === 0)
    return (
      <p className="text-muted" role="status">
        {data?.archive && !isActive ? "The run's archive has no files of this attempt." : 'Loading logs…'}
      </p>
    )
  const result = files.find(({ name }) => name === 'result.json')
  return (
    <>
      {result && <Result runId={runId} result={result} />}
      <RewardFiles runId={runId} files={files.filter(isRewardFile)} />
      <LogEnd runId={runId} logs={logsOfAttempt(files)} />
    </>
  )
}

const maxResultBytes = 1024 * 1024

const Result = ({ runId, result: { file } }: { runId: string; result: AttemptFile }) => {
  const { data } = useQuery(runLogQueries.end(runId, file, maxResultBytes))
  const record = data && attemptRecord(data.text)
  if (!record) return null
  const rewards = Object.entries(record.rewards)
  return (
    <>
      {record.phases.length > 0 && <Phases phases={record.phases} />}
      {rewards.length > 0 && (
        <section aria-label="Rewards" className="space-y-1">
          <h3 className="font-medium">Rewards</h3>
          <dl className="flex flex-wrap gap-x-6">
            {rewards.slice(0, maxRewards).map(([name, value]) => (
              <div key={name} className="flex gap-2">
                <dt className="font-mono text-sm text-muted">
                  <VisibleText max={80}>{name}</VisibleText>
                </dt>
                <dd className="tabular">{formatScore(value)}</dd>
              </div>
            ))}
            {rewards.length > maxRewards && (
              <div className="text-muted">and {formatCount(rewards.length - maxRewards)} more</div>
            )}
          </dl>
        </section>
      )}
    </>
  )
}

const maxRewards = 30

const Phases = ({ phases }: { phases: readonly Phase[] }) => {
  const longest = Math.max(1, ...phases.map(({ duration_ms }) => duration_ms ?? 0))
  return (
    <section aria-label="Phases" className="space-y-1">
      <h3 className="font-medium">Phases</h3>
      <dl className="grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] items-center gap-x-4 gap-y-1">
        {phases.map(({ name, duration_ms }) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="flex items-center gap-3">
              <span className="tabular w-16 shrink-0 text-right">
                {duration_ms === null ? 'No end' : formatDurationMs(duration_ms)}
              </span>
              <span aria-hidden className="h-2 flex-1 bg-surface-3">
                <span
                  style={{ width: `${((duration_ms ?? 0) / longest) * 100}%` }}
                  className="block h-2 min-w-px bg-(--accent)"
                />
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const RewardFiles = ({ runId, files }: { runId: string; files: readonly AttemptFile[] }) =>
  files.length === 0 ? null : (
    <section aria-label="Reward files" className="space-y-1">
      <h3 className="font-medium">Reward files</h3>
      {files.map((file) => (
        <RewardFile key={file.file.path} runId={runId} {...file} />
      ))}
    </section>
  )

const maxRewardBytes = 4 * 1024

const RewardFile = ({ runId, name, file }: AttemptFile & { runId: string }) => {
  const { data, error } = useQuery(runLogQueries.end(runId, file, maxRewardBytes))
  return (
    <div className="space-y-0.5">
      <FileLink runId={runId} name={name} path={file.path} />
      {error && <p className="text-muted">{problemOf(error).message}</p>}
      {data && <ScrolledText max={tailBytes}>{data.text.trim() || 'The file is empty.'}</ScrolledText>}
    </div>
  )
}

const tailBytes = 32 * 1024
const tailLines = 40

const LogEnd = ({ runId, logs }: { runId: string; logs: readonly AttemptFile[] }) => {
  const label = useId()
  const [chosen, setChosen] = useState<string>()
  const log = logs.find(({ name }) => name === chosen) ?? logs[0]
  const { data, error } = useQuery({
    ...runLogQueries.end(runId, log?.file ?? noFile, tailBytes),
    enabled: log !== undefined,
  })
  if (!log) return null
  const lines = data && readLines(data.text).lines.map(plainLine)
  const isCut = data !== undefined && (data.start > 0 || (lines?.length ?? 0) > tailLines)
  return (
    <section aria-label="End of the log" className="space-y-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 id={label} className="font-medium">
          {isCut ? `Last ${formatCount(Math.min(tailLines, lines?.length ?? 0))} lines of` : 'Log'}
        </h3>
        <Select
          aria-labelledby={label}
          className="min-w-0 flex-1 font-mono text-sm"
          value={log.name}
          onChange={({ target }) => setChosen(target.value)}
          options={logs.map(({ name, file }) => ({
            value: name,
            label: `${name.slice(-80)}, ${formatBytes(file.size_bytes)}`,
          }))}
        />
        <FileLink runId={runId} name="Whole file" path={log.file.path} />
      </div>
      {error && <p className="text-muted">Couldn't load the log: {problemOf(error).message}</p>}
      {lines && (
        <ScrolledText key={log.file.path} max={tailBytes} ref={scrollToEnd}>
          {lines.slice(-tailLines).join('\n') || 'The file is empty.'}
        </ScrolledText>
      )}
    </section>
  )
}

const noFile = { path: '', version: '', size_bytes: 0 }

const FileLink = ({ runId, name, path }: { runId: string; name: string; path: string }) => (
  <TextLink href={runLogsPath(runId)({ file: path })} prefetch={false} className="inline-block min-h-6">
    <VisibleText max={160}>{name}</VisibleText>
  </TextLink>
)

const scrollToEnd = (element: HTMLElement | null) => {
  if (element) element.scrollTop = element.scrollHeight
}

/** A file of one attempt with its original name: `verifier/reward.txt`. */
interface AttemptFile {
  name: string
  file: RunLogFile
}

/** In the archive of a run, the scenario run id precedes the name of each file. */
export const filesOfAttempt = (files: readonly RunLogFile[], scenarioRunId: string): AttemptFile[] =>
  files.flatMap((file) => {
    const at = file.path.indexOf(`${scenarioRunId}_`)
    const isWhole = at === 0 || file.path[at - 1] === '/'
    return at === -1 || !isWhole ? [] : [{ name: file.path.slice(at + scenarioRunId.length + 1), file }]
  })

export const isRewardFile = ({ name }: AttemptFile): boolean => /(^|\/)verifier\/reward\.(txt|json)$/.test(name)

/** Most useful first: agent, trial, verifier, then commands. */
const logPatterns = [
  /(^|\/)agent\/[^/]+\.(txt|log)$/,
  /^trial\.log$/,
  /(^|\/)verifier\/.*(stdout|\.log)/,
  /stdout/,
  /\.log$/,
]

export const logsOfAttempt = (files: readonly AttemptFile[]): AttemptFile[] => {
  const rank = ({ name }: AttemptFile) => logPatterns.findIndex((pattern) => pattern.test(name))
  return files
    .filter((file) => rank(file) !== -1 && file.file.refusal === null)
    .toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

interface Phase {
  name: string
  duration_ms: number | null
}

interface AttemptRecord {
  phases: readonly Phase[]
  rewards: Readonly<Record<string, number>>
}

const noTimes = { started_at: '', finished_at: '' }
const Times = z.catch(z.object({ started_at: z.string(), finished_at: z.catch(z.string(), '') }), noTimes)
const phaseTimes = { environment_setup: Times, agent_setup: Times, agent_execution: Times, verifier: Times }
const ResultFile = z.object({
  ...phaseTimes,
  verifier_result: z.catch(z.object({ rewards: z.record(z.string(), z.unknown()) }), { rewards: {} }),
})

const phaseNames: Record<keyof typeof phaseTimes, string> = {
  environment_setup: 'Environment',
  agent_setup: 'Agent setup',
  agent_execution: 'Agent',
  verifier: 'Verifier',
}

/** Parses Harbor's result.json, which the agent may have tampered with. */
export const attemptRecord = (text: string): AttemptRecord | null => {
  let result: z.output<typeof ResultFile>
  try {
    result = ResultFile.parse(JSON.parse(text))
  } catch {
    return null
  }
  const phases = (Object.keys(phaseNames) as (keyof typeof phaseTimes)[]).flatMap((key): Phase[] => {
    const [start, end] = [Date.parse(result[key].started_at), Date.parse(result[key].finished_at)]
    if (Number.isNaN(start)) return []
    return [{ name: phaseNames[key], duration_ms: Number.isNaN(end) || end < start ? null : end - start }]
  })
  const rewards = Object.entries(result.verifier_result.rewards)
  return {
    phases,
    rewards: Object.fromEntries(rewards.filter((each): each is [string, number] => typeof each[1] === 'number')),
  }
}
