import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * Whether a call of apt would change nothing: it only reads lists, or each package that it names is on this machine, of
 * which devboxes have the same /usr but not the list of its packages.
 */
export const isDoneAlready = async (call: string): Promise<boolean> => {
  const { command, named } = readCall(call)
  if (['update', 'clean', 'autoclean', 'autoremove'].includes(command)) return true
  if (command !== 'install' || named.length === 0) return false
  packages ??= installed()
  const all = await packages
  return named.every((name) => all.has(name))
}

const readCall = (call: string): { command: string; named: string[] } => {
  const [program = '', ...words] = call.split(/\s+/)
  if (!['apt', 'apt-get', 'aptitude'].includes(program)) return { command: '', named: [] }
  const [command = '', ...named] = words.filter((word) => !word.startsWith('-'))
  return { command, named }
}

/** The programs that installs of this machine's packages bring, with all that they depend on or recommend. */
export const programsOf = async (installs: readonly string[]): Promise<ReadonlySet<string>> => {
  const wanted = installs.flatMap((call) => readCall(call).named)
  if (wanted.length === 0) return new Set()
  const table = await dpkgQuery('-W', '-f', `\${Package}\t\${Pre-Depends}, \${Depends}, \${Recommends}\t\${Provides}\n`)
  const needs = new Map<string, string[]>()
  for (const line of table.split('\n')) {
    const [name = '', others = '', provided = ''] = line.split('\t')
    needs.set(name, namesIn(others))
    for (const virtual of namesIn(provided)) if (!needs.has(virtual)) needs.set(virtual, [name])
  }
  const brought = new Set<string>()
  for (const name of wanted) {
    if (brought.has(name) || !needs.has(name)) continue
    brought.add(name)
    wanted.push(...(needs.get(name) ?? []))
  }
  const files = await dpkgQuery('-L', ...brought)
  // Debian's nc.openbsd is nc, and its vim.basic vim.
  const programs = files.split('\n').flatMap((file) => /\/s?bin\/([^/.]+)(?:\.[a-z]+)?$/.exec(file)?.[1] ?? [])
  return new Set(programs)
}

/** The names in a list of dependencies, without versions and architectures. */
const namesIn = (list: string): string[] => list.split(/[,|]/).flatMap((each) => /[^\s:(]+/.exec(each)?.[0] ?? [])

/** What it tells of packages that are here is told also where another is not. */
const dpkgQuery = async (...words: string[]): Promise<string> => {
  const how = { maxBuffer: 64 * 1024 * 1024 }
  return promisify(execFile)('dpkg-query', words, how).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout?: string }) => stdout ?? '',
  )
}

let packages: Promise<ReadonlySet<string>> | undefined

const installed = async (): Promise<ReadonlySet<string>> => {
  try {
    const { stdout } = await promisify(execFile)('dpkg', ['--get-selections'], { maxBuffer: 64 * 1024 * 1024 })
    return new Set(stdout.split('\n').flatMap((line) => /^([^\s:]+)\S*\s+(install|hold)$/.exec(line)?.[1] ?? []))
  } catch {
    // A system without dpkg: nothing is known to be there.
    return new Set()
  }
}
