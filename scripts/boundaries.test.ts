import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

/** What each layer may import of the others: the picture in ARCHITECTURE.md. Longest matching folder wins. */
const allowed: Record<string, readonly string[]> = {
  'lib/contract': ['lib/contract'],
  'lib/client': ['lib/client', 'lib/contract'],
  'lib/wire': ['lib/wire', 'lib/contract'],
  'lib/terminal': ['lib/terminal', 'lib/wire', 'lib/contract'],
  'lib/gateway': ['lib/gateway', 'lib/client', 'lib/contract', 'lib/wire', 'lib/terminal'],
  'lib/console': ['lib/console', 'lib/client', 'lib/contract', 'lib/wire', 'lib/terminal'],
  'lib/service': ['lib/service', 'lib/contract'],
  'components/ui': ['components/ui'],
  components: ['components', 'lib/console', 'lib/contract', 'lib/wire', 'lib/terminal'],
  'app/api': ['app/api', 'lib/gateway'],
  app: ['app', 'components', 'lib/console', 'lib/gateway', 'lib/contract', 'lib/wire'],
  'server.ts': ['lib/gateway'],
}

/** Packages a layer may load; layers that are not listed may load any. */
const packages: Record<string, RegExp> = {
  'lib/contract': /^zod(\/|$)/,
  'lib/client': /^$/,
  'lib/service':
    /^(node:|zod(\/|$)|ws$|@lydell\/node-pty(\/requireBinary\.js)?$|@fastify\/busboy$|yaml$|yazl$|smol-toml$)/,
  'lib/console': /^(@tanstack\/react-query$|zod(\/|$)|react$|@xterm\/)/,
}

const layerOf = (path: string) =>
  Object.keys(allowed)
    .filter((layer) => path === layer || path.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0]

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s(?:[^'"]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

const edgesOf = (file: string): { from: string; to: string }[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(importPattern)].map(([, a, b]) => {
    const to = (a ?? b) as string
    if (to.startsWith('#')) return { from: file, to: to.slice(1) }
    if (to.startsWith('.')) return { from: file, to: normalize(join(dirname(file), to)) }
    return { from: file, to: `package:${to}` }
  })

const isTest = (file: string) => /\.test\.tsx?$|\/testing(-[\w-]+)?\.ts$|\/testing\//.test(file)

const problem = ({ from, to }: { from: string; to: string }): boolean => {
  const layer = layerOf(from)
  if (!layer) return false
  if (to.startsWith('package:')) return !isTest(from) && packages[layer]?.test(to.slice('package:'.length)) === false
  // Tests may start the real service and the real console, and call them as any client would.
  if (isTest(from) && (/^lib\/(service\/testing\/|gateway\/testing\.ts$)/.test(to) || to.startsWith('lib/client/')))
    return false
  const target = layerOf(to)
  return (
    target !== undefined &&
    !(allowed[layer] as readonly string[]).some((each) => to === each || to.startsWith(`${each}/`))
  )
}

const files = globSync(['server.ts', 'app/**/*.{ts,tsx}', 'components/**/*.{ts,tsx}', 'lib/**/*.{ts,tsx}'], {
  cwd: root,
})

it('reads every layer', () => {
  const seen = new Set(files.map(layerOf))
  expect([...Object.keys(allowed)].filter((layer) => !seen.has(layer))).toEqual([])
})

it('finds an import that breaks the house', () => {
  expect(problem({ from: 'components/ui/button.tsx', to: 'lib/console/format.ts' })).toBe(true)
  expect(problem({ from: 'lib/gateway/proxy.ts', to: 'lib/service/kit/errors.ts' })).toBe(true)
  expect(problem({ from: 'lib/contract/axons.ts', to: 'package:react' })).toBe(true)
  expect(problem({ from: 'lib/gateway/proxy.ts', to: 'lib/contract/index.ts' })).toBe(false)
})

it('has no import against the direction of the house', () => {
  expect(
    files
      .flatMap(edgesOf)
      .filter(problem)
      .map(({ from, to }) => `${from} -> ${to}`),
  ).toEqual([])
})
