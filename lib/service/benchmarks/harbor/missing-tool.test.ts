import { expect, it } from 'vitest'
import { missingToolIn } from './missing-tool.ts'

it.each([
  '/tests/test.sh: line 21: uvx: command not found',
  '/tests/test.sh: 4: pytest: not found',
  '/usr/bin/python3: No module named pytest',
  '/usr/bin/env: ‘node’: No such file or directory',
  "FileNotFoundError: [Errno 2] No such file or directory: 'redis-cli'",
  "sudo: effective uid is not 0, is /usr/bin/sudo on a file system with the 'nosuid' option set?",
  'Password: su: Authentication failure',
  'Current password: passwd: Authentication token manipulation error',
  '__main__.py: error: unrecognized arguments: --ctrf /logs/verifier/ctrf.json',
])('finds the missing program in %s', (line) => {
  expect(missingToolIn(`before\n\u001B[31m${line}\u001B[0m\nafter`, false)).toBe(line)
})

it.each([
  'curl: (6) Could not resolve host: astral.sh',
  'curl: (7) Failed to connect to astral.sh port 443 after 2 ms: Could not connect to server',
  'E: Unable to locate package python3-pytest',
  'E: Failed to fetch http://deb.debian.org/debian/pool/a.deb  Temporary failure resolving',
  'ERROR: No matching distribution found for pytest==8.4.1',
  'wget: unable to resolve host address ‘example.org’',
  'npm error code EAI_AGAIN',
  'go: example.org/x@v1: Get "https://example.org": dial tcp: lookup example.org: no such host',
  'error: Request failed after 3 retries',
])('finds the unreachable host in %s, if there should be a network', (line) => {
  expect(missingToolIn(`${line}\r\n`, true)).toBe(line)
  expect(missingToolIn(line, false)).toBeUndefined()
})

it.each([
  'curl: (7) Failed to connect to localhost port 8080 after 0 ms: Could not connect to server',
  "ModuleNotFoundError: No module named 'solution'",
  '/tests/test.sh: line 3: ./run: No such file or directory',
  '/tests/test.sh: line 3: my-program: command not found',
  'WARNING: Retrying after connection broken: Temporary failure in name resolution',
  'E   assert 1 == 2',
])('ignores %s, which the agent caused', (line) => {
  expect(missingToolIn(line, true)).toBeUndefined()
})

it('handles unterminated escape sequences in linear time', () => {
  const line = '/tests/test.sh: 4: pytest: not found'
  expect(missingToolIn(`${'\u001B];a'.repeat(2 ** 18)}\n${line}`, false)).toBe(line)
})
