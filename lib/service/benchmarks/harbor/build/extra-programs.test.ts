import { expect, it } from 'vitest'
import { findExtraPrograms, installedBy } from './extra-programs.ts'

it.each([
  ['pip install pytest==8.4.1', true],
  ['pip3 install -q "pytest>=8"', true],
  ['python3 -m pip install --no-cache-dir pytest pytest-json-ctrf', true],
  ['uv pip install --system pytest', true],
  ['uv sync --frozen', true],
  ['pip install -r requirements.txt', true],
  ['pip install --requirement=/tmp/list', true],
  ['pip install -e .', true],
  ['poetry install', true],
  ['pip install numpy requests', false],
  ['pip uninstall -y pytest', false],
  ['apt-get install -y git/stable', false],
  ['apt-get install -y python3-pytest', true],
  ['python3 -m pytest -q', false],
  ['python3 -m http.server', false],
])('detects whether %s may install pytest', async (call, isBrought) => {
  expect((await installedBy([call])).has('pytest')).toBe(isBrought)
})

it('looks for the programs that each image lacks', () => {
  const looksFor = (...how: Parameters<typeof findExtraPrograms>) => {
    const [, names = ''] = /^for each in (.*); do/.exec(findExtraPrograms(...how)) ?? []
    return ['git', 'ps', 'cc', 'openssl', 'python3', 'pytest'].filter((name) => names.split(' ').includes(name))
  }
  expect(looksFor('debian', 'bookworm', false)).toEqual(['git', 'ps', 'cc', 'openssl', 'python3', 'pytest'])
  expect(looksFor('ubuntu', '24.04', false)).toEqual(['git', 'cc', 'openssl', 'python3', 'pytest'])
  expect(looksFor('python', '3.12-slim', true)).toEqual(['git', 'ps', 'cc', 'pytest'])
  expect(looksFor('python', '3.12', true)).toEqual(['pytest'])
  expect(looksFor('golang', '1.22', true)).toEqual(['pytest'])
  expect(looksFor('php', '8', true)).toEqual(['git', 'ps', 'python3', 'pytest'])
})
