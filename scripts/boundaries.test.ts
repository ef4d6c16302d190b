import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { endpoints } from '#lib/contract/index.ts'
import { circlesOf, type Import, importsOf, isTest, sourceFiles, textOf } from './source-files.ts'

/** What each layer may import of the others: the picture in ARCHITECTURE.md. The longest matching folder counts. */
const layers: Record<string, readonly string[]> = {
  'lib/contract': [],
  'lib/client': ['lib/contract'],
  'lib/statistics': [],
  'lib/language': [],
  'lib/connections': [],
  'lib/wire': ['lib/contract', 'lib/statistics'],
  'lib/terminal': ['lib/client', 'lib/contract', 'lib/wire'],
  'lib/gateway': ['lib/client', 'lib/connections', 'lib/contract', 'lib/wire', 'lib/terminal', 'lib/statistics'],
  'lib/console': ['lib/client', 'lib/contract', 'lib/language', 'lib/wire', 'lib/terminal', 'lib/statistics'],
  'lib/service': ['lib/connections', 'lib/contract'],
  'components/ui': ['lib/language'],
  components: ['lib/console', 'lib/contract', 'lib/language', 'lib/wire', 'lib/terminal', 'lib/statistics'],
  'app/api': ['lib/gateway'],
  app: ['components', 'lib/console', 'lib/gateway', 'lib/contract', 'lib/language'],
  'server.ts': ['lib/gateway', 'scripts'],
}

/** Packages a layer may load; layers that are not listed may load any. */
const packages: Record<string, RegExp> = {
  'lib/contract': /^zod(\/|$)/,
  'lib/client': /^$/,
  'lib/statistics': /^$/,
  'lib/connections': /^(node:|rate-limiter-flexible$)/,
  'lib/wire': /^$/,
  'lib/terminal': /^@xterm\//,
  'lib/service':
    /^(node:|zod(\/|$)|ws$|@lydell\/node-pty(\/requireBinary\.js)?$|@fastify\/busboy$|yaml$|smol-toml$|yazl$|yauzl$)/,
  'lib/console': /^(@tanstack\/react-query$|zod(\/|$)|react$)/,
}

/** What the subjects of the service may import of each other, beside domain, store and kit. */
const subjects: Record<string, readonly string[]> = {
  benchmarks: ['devboxes', 'executions', 'sandbox'],
  cli: ['benchmarks', 'devboxes', 'evictions', 'http', 'sandbox'],
  devboxes: ['sandbox'],
  executions: ['sandbox'],
  routes: ['http', 'benchmarks', 'devboxes', 'sandbox', 'terminals'],
  terminals: ['sandbox'],
}
const sharedBySubjects = ['domain', 'store', 'kit']

/** What the resources on screen may import of each other, beside ui, layout, list and filters. */
const resources: Record<string, readonly string[]> = {
  devboxes: ['evictions', 'files', 'snapshots', 'terminal'],
  files: ['terminal'],
  layout: ['evictions', 'terminal'],
  overview: ['benchmarks', 'devboxes', 'evictions'],
  recordings: ['terminal'],
  snapshots: ['devboxes'],
  terminal: ['evictions'],
}
const sharedByResources = ['ui', 'layout', 'list', 'filters']

const product = sourceFiles.filter((file) => !isTest(file))
const imports = sourceFiles.filter((file) => /\.tsx?$/.test(file)).flatMap(importsOf)

const layerOf = (path: string) =>
  Object.keys(layers)
    .filter((layer) => path === layer || path.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0]

const isAgainstTheArrows = ({ from, to }: Pick<Import, 'from' | 'to'>): boolean => {
  const layer = layerOf(from)
  if (!layer) return false
  if (to.startsWith('package:')) return !isTest(from) && packages[layer]?.test(to.slice('package:'.length)) === false
  // Tests may start the real service and the real console, and call them as any client would.
  if (isTest(from) && (isTest(to) || to.startsWith('lib/client/'))) return false
  return layerOf(to) !== undefined && ![layer, ...(layers[layer] ?? [])].some((each) => to.startsWith(each))
}

const between =
  (parent: string, table: Record<string, readonly string[]>, shared: readonly string[]) =>
  ({ from, to }: Import): boolean => {
    const roomOf = (path: string) => path.match(new RegExp(`^${parent}/([^/]+)/`))?.[1]
    const [here, there] = [roomOf(from), roomOf(to)]
    if (isTest(from) || !here || !there || here === there) return false
    return !shared.includes(there) && !table[here]?.includes(there)
  }

const shown = ({ from, to }: Import) => `${from} -> ${to}`
const repeated = (names: readonly string[]) => [...new Set(names.filter((name, i) => names.indexOf(name) !== i))]

it('reads every layer', () => {
  const seen = new Set(sourceFiles.map(layerOf))
  expect(Object.keys(layers).filter((layer) => !seen.has(layer))).toEqual([])
})

it('finds an import that breaks the house', () => {
  expect(isAgainstTheArrows({ from: 'components/ui/button.tsx', to: 'lib/console/frame/format.ts' })).toBe(true)
  expect(isAgainstTheArrows({ from: 'lib/gateway/http/proxy.ts', to: 'lib/service/config.ts' })).toBe(true)
  expect(isAgainstTheArrows({ from: 'lib/contract/axons.ts', to: 'package:react' })).toBe(true)
  expect(isAgainstTheArrows({ from: 'lib/gateway/http/proxy.ts', to: 'lib/contract/index.ts' })).toBe(false)
})

it('finds a circle', () => {
  const edges = { a: ['b'], b: ['c', 'd'], c: ['a'], d: [] }
  expect(circlesOf(new Map(Object.entries(edges))).map((circle) => circle.sort())).toEqual([['a', 'b', 'c']])
})

it('has no import against the arrows of ARCHITECTURE.md: move the code to the layer that may know it', () => {
  expect(imports.filter(isAgainstTheArrows).map(shown)).toEqual([])
})

it('has subjects of the service that know each other only by the table above: hand the other in as an interface', () => {
  expect(imports.filter(between('lib/service', subjects, sharedBySubjects)).map(shown)).toEqual([])
})

it('has resources on screen that know each other only by the table above: move what both need to ui, list or layout', () => {
  expect(imports.filter(between('components', resources, sharedByResources)).map(shown)).toEqual([])
})

it('has dialogs that give the focus back to what opened them: use the frames of components/ui/overlay', () => {
  const onScreen = product.filter((file) => file.endsWith('.tsx'))
  const dialogs = onScreen.filter((file) => /import \{[^}]*\bDialog\b[^}]*\} from 'radix-ui'/.test(textOf(file)))
  expect(dialogs.length).toBeGreaterThan(0)
  expect(dialogs.filter((file) => !textOf(file).includes('onCloseAutoFocus={returnFocus}'))).toEqual([])
})

it('has no circle of imports: cut it with an interface, or move what both need to a file of its own', () => {
  const edges = new Map(product.map((file) => [file, [] as string[]]))
  for (const { from, to, isLate } of imports) if (!isLate && edges.has(to)) edges.get(from)?.push(to)
  expect(circlesOf(edges)).toEqual([])
})

it('exports each name of a class once: one name, one thing (the glossary of ARCHITECTURE.md)', () => {
  expect(
    repeated(
      product.flatMap((file) => [...textOf(file).matchAll(/^export class (\w+)/gm)].map(([, name]) => `${name}`)),
    ),
  ).toEqual([])
})

it('knows the private parts of xterm in one file: add to it what another file needs', () => {
  expect(product.filter((file) => /\b_core\b/.test(textOf(file)))).toEqual(['lib/terminal/xterm/internals.ts'])
})

it('leaves the options of V8 as they come: no flag that no person notices', () => {
  const starters = ['package.json', ...product.filter((file) => /spawn\(|execPath/.test(textOf(file)))]
  expect(
    starters.filter((file) =>
      /--(max-semi|turbofan|invocation-count|v8|no-opt|stack-size|expose-gc)|setFlagsFromString/.test(textOf(file)),
    ),
  ).toEqual([])
})

it('has nothing but what a service promises in lib/contract: what only the console says belongs to lib/wire', () => {
  const means = [
    'common',
    'encode-query',
    'endpoint',
    'errors',
    'index',
    'lenient',
    'openapi',
    'paging',
    'query-string',
    'summaries',
    'terminal-limits',
  ]
  // Of a resource, in a file of their own for pages that need no more of it.
  const parts = ['agent-usage', 'benchmark-metadata', 'benchmark-run-states', 'launch-parameters']
  const promised = new Set(endpoints.map(({ id }) => id.split('.')[0]))
  const names = product
    .filter((file) => dirname(file) === 'lib/contract')
    .map((file) => file.slice('lib/contract/'.length, -'.ts'.length))
  const camel = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  expect(names.filter((name) => ![...means, ...parts].includes(name) && !promised.has(camel(name)))).toEqual([])
})
