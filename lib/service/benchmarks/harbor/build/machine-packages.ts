import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** True if a call of apt changes nothing: all its packages are on this machine, whose /usr devboxes share. */
export const isAlreadyInstalled = async (call: string): Promise<boolean> => {
  const { command, named } = readCall(call)
  if (['update', 'clean', 'autoclean', 'autoremove'].includes(command)) return true
  if (command !== 'install' || named.length === 0) return false
  installedPackages ??= readInstalledPackages()
  const all = await installedPackages
  return named.every((name) => all.has(name))
}

interface Call {
  command: string
  named: string[]
  withRecommended: boolean
}

const readCall = (call: string): Call => {
  const [program = '', ...words] = call.split(/\s+/)
  if (!['apt', 'apt-get', 'aptitude'].includes(program)) return { command: '', named: [], withRecommended: false }
  const isValue = (index: number) => optionsWithValue.includes(words[index - 1] ?? '')
  const [command = '', ...named] = words.filter((word, index) => !word.startsWith('-') && !isValue(index))
  return {
    command,
    named: named.map((each) => each.replace(/:(amd64|arm64|all|any|native)\b/, '')),
    withRecommended: !/--no-install-recommends|--without-recommends|install-recommends=(0|false|no)/i.test(call),
  }
}

const optionsWithValue = ['-o', '-c', '-t', '-a', '--option', '--config-file', '--target-release', '--default-release']

export const programsOf = async (installs: readonly string[]): Promise<ReadonlySet<string>> => {
  const calls = installs.map(readCall).filter(({ named }) => named.length > 0)
  if (calls.length === 0) return new Set()
  const table = await dpkgQuery('-W', '-f', `\${Package}\t\${Pre-Depends}, \${Depends}\t\${Recommends}\t\${Provides}\n`)
  const needs = new Map<string, { depended: string[]; recommended: string[] }>()
  const providers = new Map<string, string>()
  for (const line of table.split('\n')) {
    const [name = '', others = '', recommended = '', provided = ''] = line.split('\t')
    needs.set(name, { depended: firstNames(others), recommended: firstNames(recommended) })
    for (const virtual of firstNames(provided)) if (!providers.has(virtual)) providers.set(virtual, name)
  }
  const names = new Set<string>()
  for (const { named, withRecommended } of calls) {
    const queue = named.map((each) => each.replace(/[=/].*/, ''))
    const seen = new Set<string>()
    for (const each of queue) {
      const name = needs.has(each) ? each : (providers.get(each) ?? '')
      const found = needs.get(name)
      if (!found || seen.has(name)) continue
      seen.add(name)
      names.add(name)
      queue.push(...found.depended, ...(withRecommended ? found.recommended : []))
    }
  }
  const files = await dpkgQuery('-L', ...names)
  // Debian's nc.openbsd is nc, vim.basic is vim.
  const programs = files.split('\n').flatMap((file) => /\/s?bin\/([^/.]+)(?:\.[a-z]+)?$/.exec(file)?.[1] ?? [])
  return new Set(programs.flatMap((name) => [name, ...(alternatives[name] ?? [])]))
}

/** Links of update-alternatives, which no package lists. */
const alternatives: Record<string, string[]> = { gcc: ['cc', 'c99'], 'g++': ['c++'], vim: ['vi'] }

const firstNames = (list: string): string[] => list.split(',').flatMap((each) => /[^\s:(|]+/.exec(each)?.[0] ?? [])

/** Its output is complete even if it fails for a package that is not installed. */
const dpkgQuery = async (...words: string[]): Promise<string> => {
  const how = { maxBuffer: 64 * 1024 * 1024 }
  return promisify(execFile)('dpkg-query', words, how).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout?: string }) => stdout ?? '',
  )
}

let installedPackages: Promise<ReadonlySet<string>> | undefined

const readInstalledPackages = async (): Promise<ReadonlySet<string>> => {
  try {
    const { stdout } = await promisify(execFile)('dpkg', ['--get-selections'], { maxBuffer: 64 * 1024 * 1024 })
    return new Set(stdout.split('\n').flatMap((line) => /^([^\s:]+)\S*\s+(install|hold)$/.exec(line)?.[1] ?? []))
  } catch {
    return new Set()
  }
}
