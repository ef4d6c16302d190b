import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const scripts = JSON.parse(read('package.json')).scripts as Record<string, string>

/** Paths that a page mentions in backquotes or links to and that do not exist. */
const missing = (page: string) =>
  [...page.matchAll(/`([^`\s]+)`|\]\(([^)\s]+)\)/g)]
    .map(([, code, link]) => ((code ?? link) as string).replace(/^\.\.\//, ''))
    .filter((path) =>
      /^(app|components|lib|e2e|bench|scripts|public|docs|packaging)\/|^[\w-]+\.(ts|md|json)$/.test(path),
    )
    .filter((path) => !path.includes('<') && ![path, `docs/${path}`].some((each) => existsSync(join(root, each))))

describe.each([
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  'docs/features.md',
  'docs/agents.md',
  'docs/alerts.md',
  'docs/cluster.md',
  'docs/faults.md',
  'docs/monitoring.md',
  'docs/operations.md',
  'docs/people.md',
  'docs/scripting.md',
])('%s', (name) => {
  it('names only paths that exist', () => {
    expect(missing(read(name))).toEqual([])
  })

  it('names only scripts that exist', () => {
    const named = [...read(name).matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script as string)
    expect(named.filter((script) => !(script in scripts))).toEqual([])
  })
})

it('docs/features.md names only journeys that exist', () => {
  const journeys = readdirSync(join(root, 'e2e'))
    .filter((name) => name.endsWith('.spec.ts'))
    .flatMap((name) => [...read(`e2e/${name}`).matchAll(/^test\((['"])(.+?)\1, /gm)].map(([, , title]) => title))
  const named = [...read('docs/features.md').matchAll(/\| \*([^*|]+)\* \|/g)].map(([, title]) => title)
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((title) => !journeys.includes(title))).toEqual([])
})

it('docs/faults.md names 40 faults, each with tests that exist', () => {
  const rows = [...read('docs/faults.md').matchAll(/^\| (\d+) \|.*\| (.+) \|$/gm)]
  expect(rows.map(([, number]) => Number(number)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_, i) => i + 1),
  )
  const unknown = rows.flatMap(([, number, cell = '']) => {
    const tests = [...cell.matchAll(/`([\w./-]+)` \*([^*]+)\*/g)]
    const isWellFormed = tests.length > 0 && tests.map(([test]) => test).join('; ') === cell
    const missing = tests.flatMap(([test, file = '', title = '']) => (hasTest(file, title) ? [] : [test]))
    return isWellFormed ? missing : [`${number}: ${cell}`]
  })
  expect(unknown).toEqual([])
})

const hasTest = (file: string, title: string) =>
  existsSync(join(root, file)) && [`'${title}'`, `"${title}"`].some((quoted) => read(file).includes(`(${quoted}, `))

it('no settings file overrides what the systemd unit sets', () => {
  // systemd prefers EnvironmentFile to Environment.
  const inUnit = [...read('packaging/devdeck.service').matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name)
  const inFiles = ['.env.example', 'packaging/devdeck.env'].flatMap((name) =>
    [...read(name).matchAll(/^(\w+)=/gm)].map(([, variable]) => variable),
  )
  expect(inUnit.length * inFiles.length).toBeGreaterThan(0)
  expect(inUnit.filter((name) => inFiles.includes(name))).toEqual([])
})

it('detects a path that does not exist', () => {
  expect(missing('see `lib/nowhere.ts` and [that](public/gone.png)')).toEqual(['lib/nowhere.ts', 'public/gone.png'])
})
