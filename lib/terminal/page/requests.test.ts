import { afterEach, expect, it, vi } from 'vitest'
import { TerminalRequests } from './requests.ts'

afterEach(() => void vi.useRealTimers())

it('wait for who serves them and are done in order, each once', () => {
  const requests = new TerminalRequests()
  const done: string[] = []
  requests.ask('dbx_1', 'prompt', 'ls')
  requests.ask('dbx_1', 'prompt', 'pwd')
  requests.ask('dbx_2', 'prompt', 'id')
  requests.ask('dbx_1', 'reopen')
  const end = requests.serve('dbx_1', 'prompt', (text) => done.push(text))
  expect(done).toEqual(['ls', 'pwd'])
  requests.ask('dbx_1', 'prompt', 'make')
  end()
  requests.serve('dbx_1', 'prompt', (text) => done.push(`again ${text}`))
  expect(done).toEqual(['ls', 'pwd', 'make'])
})

it('are forgotten when nobody serves them in time', () => {
  vi.useFakeTimers()
  const requests = new TerminalRequests()
  const done: string[] = []
  requests.ask('dbx_1', 'prompt', 'late')
  vi.advanceTimersByTime(30_001)
  requests.serve('dbx_1', 'prompt', (text) => done.push(text))
  expect(done).toEqual([])
})

it('stay with who serves them last, also when the one before ends later', () => {
  const requests = new TerminalRequests()
  const done: string[] = []
  const endFirst = requests.serve('dbx_1', 'new-tab', () => done.push('first'))
  requests.serve('dbx_1', 'new-tab', () => done.push('second'))
  endFirst()
  requests.ask('dbx_1', 'new-tab')
  expect(done).toEqual(['second'])
})
