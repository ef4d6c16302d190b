import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { callInPython, pythonRefusal } from '../testing/python.ts'
import { pythonName, samplesOf } from './code-samples.ts'

const hostile = `it's "$HOME" \`id\` \\ """ ''' \${x} {y} %s \u0000\n\t\u2028 😀 \ud800 <script>`

const body = {
  name: hostile,
  metadata: { [hostile]: 'x', class: 'y' },
  launch_parameters: {
    keep_alive_time_seconds: 60,
    launch_commands: ["echo '$HOME' `id`"],
    flags: [true, false, null],
  },
  empty: {},
  none: [],
  lambda: 1,
  'not-a-name': 2,
}

const call = { path: '/v1/devboxes', method: 'devboxes.createAndAwaitRunning', body, result: 'devBox' }

describe('a sample', () => {
  const samples = samplesOf(call, "http://h/'x")

  it('passes the body through the shell', () => {
    const { curl } = samplesOf(call, 'http://h')
    const script = `curl() { for word; do last=$word; done; printf %s "$last"; }\n${curl}`
    expect(JSON.parse(execFileSync('bash', ['-c', script], { encoding: 'utf8' }))).toEqual(body)
  })

  it('is TypeScript with the same body', () => {
    const [, text = ''] = /createAndAwaitRunning\(([\s\S]*)\)\nconsole/.exec(samples.TypeScript) ?? []
    expect(new Function(`return (${text})`)()).toEqual(body)
  })

  it.skipIf(pythonRefusal !== null)('is Python with the same body', () => {
    expect(callInPython(samples.Python)).toEqual({
      method: 'devboxes.create_and_await_running',
      values: [],
      named: body,
    })
  })

  it.skipIf(pythonRefusal !== null)('takes an id as the first argument', () => {
    const { Python } = samplesOf({ ...call, method: 'devboxes.snapshotDisk', id: 'dbx_1', body: {} }, 'http://h')
    expect(callInPython(Python)).toEqual({ method: 'devboxes.snapshot_disk', values: ['dbx_1'], named: {} })
  })
})

it("uses Python's own names where they differ", () => {
  expect(pythonName('devboxes.diskSnapshots.list')).toBe('devboxes.disk_snapshots.list')
})
