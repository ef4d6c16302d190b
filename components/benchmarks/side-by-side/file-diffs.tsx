import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import { plainLine, readLines } from '#lib/browser/text/console-text.ts'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import { DiffView } from '../compare/diff-view.tsx'
import { lineDiff } from '../compare/line-diff.ts'
import { isRecording, LogRecording } from '../logs/log-recording.tsx'
import { attemptLogAddress, attemptLogQueries, logTextQuery } from '../logs/queries.ts'
import type { Side } from './side.ts'

interface FilePair {
  name: string
  a: RunLogFile | undefined
  b: RunLogFile | undefined
}

/** Artifacts, verifier output and agent logs of both attempts. */
export const FileDiffs = ({ sides }: { sides: readonly [Side, Side] }) => {
  const [idA, idB] = sides.map(({ outcome }) => outcome?.scenario_run_id ?? '') as [string, string]
  const [a, b] = [useFiles(idA), useFiles(idB)]
  const pairs = useMemo(() => filePairs(a.files ?? [], idA, b.files ?? [], idB), [a.files, b.files, idA, idB])
  const isRead = a.files !== undefined && b.files !== undefined
  const differing = pairs.filter((pair) => !isSame(pair))
  const texts = differing.filter(({ name, a, b }) => a && b && !isRecording({ path: name }))
  const hasTrajectories = sides.every(({ outcome }) => (outcome?.trajectories ?? []).length > 0)
  // Without trajectories, the agents' logs show what they did.
  const firstText = (hasTrajectories ? undefined : texts.find(({ name }) => agentLog.test(name))) ?? texts[0]
  return (
    <section aria-label="Files" className="space-y-2">
      <h2 className="text-lg font-medium">Files</h2>
      {[a, b].map(
        ({ note }, at) =>
          note && (
            // biome-ignore lint/suspicious/noArrayIndexKey: two sides
            <p key={at} role="status" className="text-muted">
              {at === 0 ? 'A' : 'B'}: {note}
            </p>
          ),
      )}
      {isRead && (
        <>
          <p role="status" className="tabular text-sm text-muted">
            {formatCount(differing.length)} of {formatCountOf(pairs.length, 'file')} differ
            {pairs.length > differing.length && `; ${formatCount(pairs.length - differing.length)} identical`}
          </p>
          <ul className="divide-y divide-line rounded-md border border-line empty:hidden">
            {differing.slice(0, maxFiles).map((pair) => (
              <FileRow key={pair.name} pair={pair} ids={[idA, idB]} isFirst={pair === firstText} />
            ))}
          </ul>
          {differing.length > maxFiles && (
            <p className="text-sm text-muted">
              Showing {formatCount(maxFiles)} of {formatCount(differing.length)} files. Open the log files for the rest.
            </p>
          )}
        </>
      )}
    </section>
  )
}

const agentLog = /^agent.*\.(txt|log)$/
const maxFiles = 200

const useFiles = (id: string): { files?: readonly RunLogFile[]; note?: string } => {
  const { data, error } = useQuery({ ...attemptLogQueries.list(id), enabled: id !== '' })
  if (id === '') return { note: 'no logs.' }
  if (error) return { note: `no logs: ${problemOf(error).message}` }
  return data?.archive ? { files: data.archive.files } : { note: 'reading the logs…' }
}

/** Pairs files by name without the scenario run id: artifacts first, then verifier, agent and the rest. */
const filePairs = (a: readonly RunLogFile[], idA: string, b: readonly RunLogFile[], idB: string): FilePair[] => {
  const named = (files: readonly RunLogFile[], id: string) =>
    new Map(files.map((file) => [file.path.startsWith(`${id}_`) ? file.path.slice(id.length + 1) : file.path, file]))
  const [ofA, ofB] = [named(a, idA), named(b, idB)]
  const rank = (name: string) => ['artifacts', 'verifier', 'agent', ''].findIndex((prefix) => name.startsWith(prefix))
  return [...new Set([...ofA.keys(), ...ofB.keys()])]
    .map((name) => ({ name, a: ofA.get(name), b: ofB.get(name) }))
    .sort((x, y) => rank(x.name) - rank(y.name) || (x.name < y.name ? -1 : 1))
}

/** Versions are checksums with sizes. */
const isSame = ({ a, b }: FilePair) => a !== undefined && b !== undefined && a.version === b.version

interface FileRowProps {
  pair: FilePair
  ids: readonly [string, string]
  isFirst: boolean
}

const FileRow = ({ pair, ids, isFirst }: FileRowProps) => {
  const [isOpen, setIsOpen] = useState(isFirst)
  const { name, a, b } = pair
  const size = (file: RunLogFile | undefined) => (file ? formatBytes(file.size_bytes) : 'none')
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary className="cursor-pointer px-3 py-1.5">
          <VisibleText max={200} className="font-mono text-sm">
            {name}
          </VisibleText>{' '}
          <span className="tabular text-sm text-muted">
            {a && b ? `${size(a)} vs ${size(b)}` : `only in ${a ? 'A' : 'B'}, ${size(a ?? b)}`}
          </span>
        </summary>
        {isOpen && (
          <div className="px-3 pb-3">
            {isRecording({ path: name }) ? (
              <div className="grid gap-3 lg:grid-cols-2">
                {[a, b].map(
                  (file, at) =>
                    file && (
                      // biome-ignore lint/suspicious/noArrayIndexKey: two sides
                      <div key={at} className="min-w-0 space-y-1">
                        <p className="text-sm text-muted">{at === 0 ? 'A' : 'B'}</p>
                        <LogRecording address={attemptLogAddress(ids[at] ?? '', file.path)} file={file} />
                      </div>
                    ),
                )}
              </div>
            ) : (
              <TextDiff pair={pair} ids={ids} />
            )}
          </div>
        )}
      </details>
    </li>
  )
}

const maxDiffBytes = 512 * 1024
const noFile = { version: '', size_bytes: 0 }

const TextDiff = ({ pair: { name, a, b }, ids }: Omit<FileRowProps, 'isFirst'>) => {
  const refusal = a?.refusal ?? b?.refusal
  const isTooLarge = Math.max(a?.size_bytes ?? 0, b?.size_bytes ?? 0) > maxDiffBytes
  const isReadable = !refusal && !isTooLarge
  const textOf = (file: RunLogFile | undefined, id: string) => ({
    ...logTextQuery(attemptLogAddress(id, file?.path ?? ''), file ?? noFile, maxDiffBytes),
    enabled: isReadable,
  })
  const before = useQuery(textOf(a, ids[0]))
  const after = useQuery(textOf(b, ids[1]))
  const lines = useMemo(
    () =>
      typeof before.data === 'string' && typeof after.data === 'string'
        ? lineDiff(plainText(before.data), plainText(after.data))
        : undefined,
    [before.data, after.data],
  )
  const error = before.error ?? after.error
  if (refusal) return <p className="text-muted">This file can't be opened here: it {refusal}.</p>
  if (isTooLarge)
    return (
      <p className="text-muted">
        Too large to compare here: the limit is {formatBytes(maxDiffBytes)}. Download the log files to compare them.
      </p>
    )
  if (error) return <p className="text-muted">Couldn't load the file: {problemOf(error).message}</p>
  if (before.data === null || after.data === null) return <p className="text-muted">Binary file.</p>
  return lines ? <DiffView title={name} lines={lines} /> : <p className="text-muted">Loading file…</p>
}

/** Without colors and overwritten progress lines. */
const plainText = (text: string): string => readLines(text).lines.map(plainLine).join('\n')
