import { describe, expect, it } from 'vitest'
import { initialHealth, type LiveHealth } from '#lib/browser/live/follow.ts'
import type { Execution } from '#lib/contract/executions.ts'
import { CommandRun, type ExecutionSource } from './command-run.ts'
import { transcriptText } from './transcript.ts'

const execution = (change: Partial<Execution> = {}): Execution => ({
  devbox_id: 'dbx_1',
  execution_id: 'exe_1',
  status: 'running',
  ...change,
})
const done = execution({ status: 'completed', exit_status: 3 })

const run = (source: Partial<ExecutionSource>, isExternal = false) =>
  new CommandRun({
    isExternal,
    command: 'true',
    execution: execution(),
    source: { follow: async () => undefined, get: async () => done, isFinal: () => false, ...source },
  })

describe('a command run', () => {
  it('collects both streams and the exit status', async () => {
    const made = run({
      follow: async (stream, { onItems }) =>
        stream === 'stdout'
          ? onItems([{ output: 'one\n' }, { output: 'two\n' }], '8')
          : onItems([{ output: 'bad\n' }], '4'),
    })
    await made.follow()
    expect(transcriptText(made.getSnapshot().transcript)).toBe('one\ntwo\nbad')
    expect(made.getSnapshot()).toMatchObject({ hasEnded: true, execution: { exit_status: 3 }, error: null })
  })

  it('resumes both streams when they ended before the process did', async () => {
    let requests = 0
    const positions: unknown[] = []
    const made = run({
      follow: async (stream, { position, onItems }) => {
        if (stream === 'stderr') return
        positions.push(position)
        onItems([{ output: 'a' }], `${positions.length}`)
      },
      get: async () => (++requests === 1 ? execution() : done),
    })
    await made.follow()
    expect(transcriptText(made.getSnapshot().transcript)).toBe('aa')
    expect(positions).toEqual([undefined, '1'])
  })

  it('reports the health of the worse stream', async () => {
    const health = (state: LiveHealth['state']) => ({ ...initialHealth, state })
    const seen: string[] = []
    const made = run({
      follow: async (stream, { onHealth }) => {
        onHealth?.(health('live'))
        if (stream === 'stderr') for (const state of ['late', 'lost', 'live'] as const) onHealth?.(health(state))
      },
    })
    made.subscribe(() => seen.push(made.getSnapshot().health.state))
    await made.follow()
    expect(seen.slice(0, 5)).toEqual(['connecting', 'live', 'late', 'lost', 'live'])
  })

  it('reports a missing execution and stops both streams', async () => {
    const notFound = new Error('not found')
    let other: AbortSignal | undefined
    const made = run({
      follow: async (stream, { signal }) => {
        if (stream === 'stdout') throw notFound
        other = signal
        await new Promise(() => undefined)
      },
    })
    await made.follow()
    expect(made.getSnapshot()).toMatchObject({ hasEnded: false, error: notFound })
    expect(other?.aborted).toBe(true)
  })

  it('reads all output of a command that had already ended', async () => {
    const made = run(
      {
        follow: async (stream, { onItems }) => {
          expect(made.getSnapshot()).toMatchObject({ hasEnded: true, isComplete: false })
          if (stream === 'stdout') onItems([{ output: 'kept' }], '4')
        },
      },
      true,
    )
    await made.follow()
    expect(transcriptText(made.getSnapshot().transcript)).toBe('kept')
    expect(made.getSnapshot().isComplete).toBe(true)
  })

  it('counts as truncated only if the stream had no more than the truncated status', async () => {
    const truncatedOf = async (streamed: string, stdout: string) => {
      const made = run({
        follow: async (stream, { onItems }) => (stream === 'stdout' ? onItems([{ output: streamed }], '1') : undefined),
        get: async () => ({ ...done, stdout, stdout_truncated: true, stderr: '', stderr_truncated: false }),
      })
      await made.follow()
      return made.getSnapshot().truncated
    }
    // Only the last line is requested, so the status of any longer output is marked truncated.
    expect(await truncatedOf('one\ntwo\n', 'two\n')).toEqual([])
    expect(await truncatedOf('two\n', 'two\n')).toEqual(['stdout'])
    expect(await truncatedOf('', '')).toEqual(['stdout'])
  })

  it('resumes where it was after an abort', async () => {
    const positions: unknown[] = []
    const made = run({
      follow: async (stream, { position, signal, onItems }) => {
        if (stream === 'stderr') return
        positions.push(position)
        onItems([{ output: 'a' }], '1')
        if (positions.length === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    })
    const leaving = new AbortController()
    const followed = made.follow(leaving.signal)
    leaving.abort()
    await followed
    expect(made.getSnapshot()).toMatchObject({ isComplete: false, error: null })
    await made.follow()
    expect(positions).toEqual([undefined, '1'])
    expect(made.getSnapshot().isComplete).toBe(true)
  })
})
