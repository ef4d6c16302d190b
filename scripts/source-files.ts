import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export const root = join(import.meta.dirname, '..')

export const isTest = (file: string) => /\.test\.tsx?$|(^|\/)testing(-[\w-]+)?(\.ts$|\/)/.test(file)

/** Source files, relative to the root. */
export const sourceFiles = globSync(
  ['server.ts', 'app/**/*.{ts,tsx,css}', 'components/**/*.{ts,tsx,css}', 'lib/**/*.{ts,tsx}', 'scripts/*.{ts,mjs}'],
  { cwd: root },
).sort()

export const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

export interface Import {
  from: string
  /** A path relative to the root, or `package:<name>`. */
  to: string
  /** A dynamic `import()`. */
  isLate: boolean
}

const pattern =
  /(?:^|\n)\s*(?:import|export)\s(?:[^'"]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

export const importsOf = (file: string): Import[] =>
  [...textOf(file).matchAll(pattern)].map(([, early, late]) => ({
    from: file,
    to: resolve(file, (early ?? late) as string),
    isLate: late !== undefined,
  }))

const resolve = (file: string, name: string): string => {
  if (name.startsWith('#')) return name.slice(1)
  return name.startsWith('.') ? normalize(join(dirname(file), name)) : `package:${name}`
}

/** Import cycles, by Tarjan's algorithm for strongly connected components. */
export const circlesOf = (edges: ReadonlyMap<string, readonly string[]>): string[][] => {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (file: string): number => {
    const own = order.size
    order.set(file, own)
    lowest.set(file, own)
    open.push(file)
    for (const next of edges.get(file) ?? []) {
      const reached = order.has(next) ? (open.includes(next) ? (order.get(next) ?? own) : own) : visit(next)
      lowest.set(file, Math.min(lowest.get(file) ?? own, reached))
    }
    if (lowest.get(file) === own) {
      const circle = open.splice(open.indexOf(file))
      if (circle.length > 1) circles.push(circle)
    }
    return lowest.get(file) ?? own
  }
  for (const file of edges.keys()) if (!order.has(file)) visit(file)
  return circles
}

export interface LineCount {
  product: number
  tests: number
  comments: number
}

/** Product, test and comment lines per folder; `lib`, `components` and `app` by subfolder. */
export const lineCounts = (): Map<string, LineCount> => {
  const counts = new Map<string, LineCount>()
  for (const file of [...sourceFiles, ...globSync('{e2e,soak,bench}/**/*.ts', { cwd: root })]) {
    const [top = '', second = ''] = file.split('/')
    const folder =
      ['lib', 'components', 'app'].includes(top) && second && !second.includes('.') ? `${top}/${second}` : top
    const count = counts.get(folder) ?? { product: 0, tests: 0, comments: 0 }
    const lines = textOf(file).split('\n')
    const isMeasurement = /^(e2e|soak|bench)\//.test(file)
    count[isTest(file) || isMeasurement ? 'tests' : 'product'] += lines.length - 1
    count.comments += lines.filter((line) => /^\s*(\/\/|\/\*|\*|\{\/\*)/.test(line)).length
    counts.set(folder, count)
  }
  return new Map([...counts].sort(([a], [b]) => a.localeCompare(b)))
}
