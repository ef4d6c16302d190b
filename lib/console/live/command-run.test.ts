import { describe, expect, it } from 'vitest'
import type { Execution, OutputChunk } from '#lib/contract/executions.ts'
import { CommandRun, type ExecutionSource } from './command-run.ts'
import { transcriptText } from './transcript.ts'

const execution = (change: Partial<Execution> = {}): Execution => ({
  devbox_id: 'dbx_1',
  execution_id: 'exe_1',
  status: 'running',
  ...change,
})
const done = execution({ status: 'completed', exit_status: 3 })

/** Streams whose nth opening yields what `stdout[n]` says; an Error in it is thrown there. */
const source = (stdout: (OutputChunk | Error)[][], more: Partial<ExecutionSource> = {}) => {
  const offsets: number[] = []
  const made: ExecutionSource = {
    async *open(stream, offset) {
      if (stream === 'stderr') return
      const steps = stdout[offsets.length] ?? []
      offsets.push(offset)
      for (const step of steps) {
        if (step instanceof Error) throw step
        yield step
      }
    },
    get: async () => done,
    isLost: () => false,
    ...more,
  }
  return { ...made, offsets }
}

const follow = async (from: ExecutionSource) => {
  const run = new CommandRun({ command: 'true', execution: execution(), source: from })
  await run.follow()
  return run.getSnapshot()
}

describe('a command run', () => {
  it('keeps what was written and how it ended', async () => {
    const snapshot = await follow(
      source([
        [
          { output: 'one\n', offset: 4 },
          { output: 'two\n', offset: 8 },
        ],
      ]),
    )
    expect(transcriptText(snapshot.transcript)).toBe('one\ntwo\n')
    expect(snapshot).toMatchObject({ hasEnded: true, execution: { exit_status: 3 }, isReconnecting: false, lost: null })
  })

  it('goes on from the last byte it has when its stream breaks', async () => {
    const from = source([[{ output: 'né\n', offset: 4 }, new Error('cut')], [{ output: 'rest\n', offset: 9 }]])
    const snapshot = await follow(from)
    expect(from.offsets).toEqual([0, 4])
    expect(transcriptText(snapshot.transcript)).toBe('né\nrest\n')
    expect(snapshot.isReconnecting).toBe(false)
  })

  it('counts bytes itself when the service tells no offset', async () => {
    const from = source([[{ output: 'né\n' }, new Error('cut')], []])
    await follow(from)
    expect(from.offsets).toEqual([0, 4])
  })

  it('opens the stream again when it ended before the process did', async () => {
    let looks = 0
    const from = source([[{ output: 'a', offset: 1 }], [{ output: 'b', offset: 2 }]], {
      get: async () => (++looks === 1 ? execution() : done),
    })
    expect(transcriptText((await follow(from)).transcript)).toBe('ab')
    expect(from.offsets).toEqual([0, 1])
  })

  it('says so when the execution is gone', async () => {
    const gone = new Error('not found')
    const snapshot = await follow(source([[gone]], { isLost: (error) => error === gone }))
    expect(snapshot).toMatchObject({ hasEnded: false, lost: gone })
  })
})
