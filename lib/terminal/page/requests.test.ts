import { afterEach, expect, it, vi } from 'vitest'
import { TerminalRequests } from './requests.ts'

afterEach(() => void vi.useRealTimers())

it('wait for a handler and run in order, once each', () => {
  const requests = new TerminalRequests()
  const done: string[] = []
  requests.ask('dbx_1', 'prompt', 'ls')
  requests.ask('dbx_1', 'prompt', 'pwd')
  requests.ask('dbx_2', 'prompt', 'id')
  requests.ask('dbx_1', 'new-tab')
  const end = requests.serve('dbx_1', 'prompt', (text) => done.push(text))
  expect(done).toEqual(['ls', 'pwd'])
  requests.ask('dbx_1', 'prompt', 'make')
  end()
  requests.serve('dbx_1', 'prompt', (text) => done.push(`again ${text}`))
  expect(done).toEqual(['ls', 'pwd', 'make'])
})

it('expire without a handler', () => {
  vi.useFakeTimers()
  const requests = new TerminalRequests()
  const done: string[] = []
  requests.ask('dbx_1', 'prompt', 'late')
  vi.advanceTimersByTime(30_001)
  requests.serve('dbx_1', 'prompt', (text) => done.push(text))
  expect(done).toEqual([])
})

it('go to the latest handler, even if the previous one ends later', () => {
  const requests = new TerminalRequests()
  const done: string[] = []
  const endFirst = requests.serve('dbx_1', 'new-tab', () => done.push('first'))
  requests.serve('dbx_1', 'new-tab', () => done.push('second'))
  endFirst()
  requests.ask('dbx_1', 'new-tab')
  expect(done).toEqual(['second'])
})
