import { describe, expect, it } from 'vitest'
import { type LiveHealth, noHealth } from '#lib/browser/live/follow.ts'
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

const run = (source: Partial<ExecutionSource>, isFound = false) =>
  new CommandRun({
    isFound,
    command: 'true',
    execution: execution(),
    source: { follow: async () => undefined, get: async () => done, isLost: () => false, ...source },
  })

describe('a command run', () => {
  it('keeps what both streams wrote and how it ended', async () => {
    const made = run({
      follow: async (stream, { onItems }) =>
        stream === 'stdout'
          ? onItems([{ output: 'one\n' }, { output: 'two\n' }], '8')
          : onItems([{ output: 'bad\n' }], '4'),
    })
    await made.follow()
    expect(transcriptText(made.getSnapshot().transcript)).toBe('one\ntwo\nbad')
    expect(made.getSnapshot()).toMatchObject({ hasEnded: true, execution: { exit_status: 3 }, lost: null })
  })

  it('follows on from where it was when the streams ended before the process did', async () => {
    let looks = 0
    const positions: unknown[] = []
    const made = run({
      follow: async (stream, { position, onItems }) => {
        if (stream === 'stderr') return
        positions.push(position)
        onItems([{ output: 'a' }], `${positions.length}`)
      },
      get: async () => (++looks === 1 ? execution() : done),
    })
    await made.follow()
    expect(transcriptText(made.getSnapshot().transcript)).toBe('aa')
    expect(positions).toEqual([undefined, '1'])
  })

  it('is as healthy as the worse of its streams', async () => {
    const health = (state: LiveHealth['state']) => ({ ...noHealth, state })
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

  it('says so when the execution is gone, and follows neither stream any more', async () => {
    const gone = new Error('not found')
    let other: AbortSignal | undefined
    const made = run({
      follow: async (stream, { signal }) => {
        if (stream === 'stdout') throw gone
        other = signal
        await new Promise(() => undefined)
      },
    })
    await made.follow()
    expect(made.getSnapshot()).toMatchObject({ hasEnded: false, lost: gone })
    expect(other?.aborted).toBe(true)
  })

  it('that was found ended is read whole before it is said to be', async () => {
    const made = run(
      {
        follow: async (stream, { onItems }) => {
          expect(made.getSnapshot()).toMatchObject({ hasEnded: true, isRead: false })
          if (stream === 'stdout') onItems([{ output: 'kept' }], '4')
        },
      },
      true,
    )
    await made.follow()
    expect(transcriptText(made.getSnapshot().transcript)).toBe('kept')
    expect(made.getSnapshot().isRead).toBe(true)
  })

  it('is cut where its streams told no more than an answer that was cut, not where only the answer was', async () => {
    const cutOf = async (told: string, answered: string) => {
      const made = run({
        follow: async (stream, { onItems }) => (stream === 'stdout' ? onItems([{ output: told }], '1') : undefined),
        get: async () => ({ ...done, stdout: answered, stdout_truncated: true, stderr: '', stderr_truncated: false }),
      })
      await made.follow()
      return made.getSnapshot().cut
    }
    // The last line is asked for alone, and so every longer output is answered as cut.
    expect(await cutOf('one\ntwo\n', 'two\n')).toEqual([])
    expect(await cutOf('two\n', 'two\n')).toEqual(['stdout'])
    expect(await cutOf('', '')).toEqual(['stdout'])
  })

  it('is left by who stops looking, and goes on where it was', async () => {
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
    expect(made.getSnapshot()).toMatchObject({ isRead: false, lost: null })
    await made.follow()
    expect(positions).toEqual([undefined, '1'])
    expect(made.getSnapshot().isRead).toBe(true)
  })
})
