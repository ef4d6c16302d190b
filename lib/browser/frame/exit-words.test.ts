import { expect, it } from 'vitest'
import { exitWords } from './exit-words.ts'

it('says with which status a shell ended, and what that means where it means something', () => {
  expect(exitWords(0, '')).toBe('The shell has ended with exit status 0: no error')
  expect(exitWords(3, 'The shell ended with 3')).toBe('The shell has ended with exit status 3')
  expect(exitWords(127, '')).toBe('The shell has ended with exit status 127: the last command was not found')
  expect(exitWords(130, '')).toBe('The shell has ended with exit status 130: interrupted (SIGINT)')
  expect(exitWords(200, '')).toBe('The shell has ended with exit status 200')
})

it('passes on what the service says when it tells no status', () => {
  expect(exitWords(null, 'The shell was killed by signal 9')).toBe('The shell was killed by signal 9')
  expect(exitWords(null, '')).toBe('The shell has ended')
})
