import { expect, it } from 'vitest'
import { withFoldersThere, withoutInstalls } from './shell-words.ts'

it.each([
  ['apt-get update && apt-get install -y jq && rm -rf x && echo y', ': && : && rm -rf x && echo y'],
  ['if ! command -v jq; then apt-get install -y jq; fi; echo y', 'if ! command -v jq; then :; fi; echo y'],
  ['for p in a b; do pip install $p; done', 'for p in a b; do :; done'],
  ['(apt-get update; echo y) | cat', '(:; echo y) | cat'],
  ['DEBIAN_FRONTEND=noninteractive apt-get install -y "a && b" >/dev/null 2>&1 || true', ': || true'],
  ['python3 -m pip install -r r.txt && python3 -m venv v', ': && python3 -m venv v'],
  ['npm install -g x && npm run build', ': && npm run build'],
  ['yes | sudo -E apt-get install x', 'yes | :'],
  ['bash -c "apt-get update && echo y" && echo z', 'bash -c ": && echo y" && echo z'],
  [
    "'/bin/bash' '-euo' 'pipefail' '-c' 'apt-get install -y x; echo y'",
    "'/bin/bash' '-euo' 'pipefail' '-c' ':; echo y'",
  ],
  ["sudo sh -lc 'pip install x' && echo z", "sudo sh -lc ':' && echo z"],
  ['useradd -m joe && chown -R joe /app', ': && :'],
])('skips packages and users in %s', (script, left) => {
  expect(withoutInstalls(script).script).toBe(left)
})

it.each([
  'echo "apt-get install x" && echo \'pip install y\'',
  'x=$(apt-get --version; echo y) && echo a >b 2>&1',
  'cat >f <<E\napt-get install y\nE\necho z',
  'echo y # && apt-get install x',
  'cat <<< "a && apt-get b"',
  'pip --version && npm run install && go build',
])('leaves %s alone', (script) => {
  expect(withoutInstalls(script)).toEqual({ script, skipped: [] })
})

it('tells what it skipped', () => {
  expect(withoutInstalls('apt-get update \\\n  -qq && A=b pip install x').skipped).toEqual([
    'apt-get update \\ -qq',
    'pip install x',
  ])
})

it.each([
  ['cd / && mkdir /app; mkdir -m 755 /data /data/x', 'cd / && mkdir -p /app; mkdir -p -m 755 /data /data/x'],
  ['mkdir /app/x && echo "mkdir /app" && mkdir x', 'mkdir /app/x && echo "mkdir /app" && mkdir x'],
])('lets folders at / be there in %s', (script, left) => {
  expect(withFoldersThere(script)).toBe(left)
})
