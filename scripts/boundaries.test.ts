import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { circlesOf, type Import, importsOf, isTest, sourceFiles } from './source-files.ts'

/** The layers each layer may import, as drawn in ARCHITECTURE.md. The longest matching folder applies. */
const layers: Record<string, readonly string[]> = {
  'lib/contract': [],
  'lib/client': ['lib/contract'],
  'lib/statistics': [],
  'lib/limits': [],
  'lib/metrics': [],
  'lib/protocol': ['lib/contract', 'lib/statistics'],
  'lib/terminal': ['lib/client', 'lib/contract', 'lib/protocol'],
  'lib/gateway': [
    'lib/client',
    'lib/limits',
    'lib/metrics',
    'lib/contract',
    'lib/protocol',
    'lib/terminal',
    'lib/statistics',
  ],
  'lib/browser': ['lib/client', 'lib/contract', 'lib/protocol', 'lib/terminal', 'lib/statistics'],
  'lib/service': ['lib/limits', 'lib/metrics', 'lib/contract'],
  'components/ui': ['lib/browser/format.ts', 'lib/client/clock.ts', 'lib/protocol/roles.ts'],
  components: ['lib/browser', 'lib/client', 'lib/contract', 'lib/protocol', 'lib/terminal', 'lib/statistics'],
  'app/api': ['lib/gateway'],
  app: ['components', 'lib/browser', 'lib/gateway', 'lib/client', 'lib/contract'],
  'server.ts': ['lib/gateway', 'scripts'],
}

/** npm packages a layer may import; layers that are not listed may import any. */
const packages: Record<string, RegExp> = {
  'lib/contract': /^zod(\/|$)/,
  'lib/client': /^$/,
  'lib/statistics': /^$/,
  'lib/limits': /^(node:|rate-limiter-flexible$)/,
  'lib/metrics': /^(node:|prom-client$)/,
  'lib/protocol': /^$/,
  'lib/terminal': /^@xterm\//,
  'lib/service':
    /^(node:|zod(\/|$)|ws$|@lydell\/node-pty(\/requireBinary\.js)?$|@fastify\/busboy$|yaml$|smol-toml$|yazl$|yauzl$|undici$|dockerode$|prom-client$)/,
  'lib/browser': /^(@tanstack\/react-(query|table)$|zod(\/|$)|react$)/,
}

const imports = sourceFiles.filter((file) => /\.tsx?$/.test(file)).flatMap(importsOf)

const layerOf = (path: string) =>
  Object.keys(layers)
    .filter((layer) => path === layer || path.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0]

const breaksArrows = ({ from, to }: Pick<Import, 'from' | 'to'>): boolean => {
  const layer = layerOf(from)
  if (!layer) return false
  if (to.startsWith('package:')) return !isTest(from) && packages[layer]?.test(to.slice('package:'.length)) === false
  // Tests may start the real service and console and call them like any client.
  if (isTest(from) && (isTest(to) || to.startsWith('lib/client/'))) return false
  return layerOf(to) !== undefined && ![layer, ...(layers[layer] ?? [])].some((each) => to.startsWith(each))
}

it('covers every layer', () => {
  const seen = new Set(sourceFiles.map(layerOf))
  expect(Object.keys(layers).filter((layer) => !seen.has(layer))).toEqual([])
})

it('detects an import against the arrows', () => {
  expect(breaksArrows({ from: 'components/ui/button.tsx', to: 'lib/browser/live/follow.ts' })).toBe(true)
  expect(breaksArrows({ from: 'lib/gateway/proxy/proxy.ts', to: 'lib/service/config.ts' })).toBe(true)
  expect(breaksArrows({ from: 'lib/contract/axons.ts', to: 'package:react' })).toBe(true)
  expect(breaksArrows({ from: 'lib/gateway/proxy/proxy.ts', to: 'lib/contract/index.ts' })).toBe(false)
})

it('detects an import circle', () => {
  const edges = { a: ['b'], b: ['c', 'd'], c: ['a'], d: [] }
  expect(circlesOf(new Map(Object.entries(edges))).map((circle) => circle.sort())).toEqual([['a', 'b', 'c']])
})

it('has no import against the arrows', () => {
  expect(imports.filter(breaksArrows).map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

it('never reads the local clock in a page', () => {
  const clock = 'lib/client/clock.ts'
  const inPages = sourceFiles.filter(
    (file) => /^(components|lib\/(browser|client|terminal))\/.*\.tsx?$/.test(file) && !isTest(file) && file !== clock,
  )
  expect(inPages.filter((file) => /\bDate\.now\b|\bDate\(\)/.test(readFileSync(file, 'utf8')))).toEqual([])
})

it('has no import circle', () => {
  const edges = new Map(sourceFiles.filter((file) => !isTest(file)).map((file) => [file, [] as string[]]))
  for (const { from, to, isLate } of imports) if (!isLate && edges.has(to)) edges.get(from)?.push(to)
  expect(circlesOf(edges)).toEqual([])
})
