import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Workbench } from '../../workbench.ts'
import { programsOf } from './machine-packages.ts'

/**
 * Programs that solutions, agents and tests reach for, and that no image of a bare system has. Those that pip or npm may
 * have brought are not told apart from the machine's, and are none of them.
 */
const bare = [
  ...['cmake', 'curl', 'expect', 'file', 'g++', 'gcc', 'gdb', 'git', 'go', 'java', 'jq', 'make', 'nc', 'nginx'],
  ...['node', 'npm', 'npx', 'pip', 'pip3', 'psql', 'python', 'python3', 'redis-server', 'rsync', 'ruby', 'socat'],
  ...['sqlite3', 'ssh', 'strace', 'tmux', 'unzip', 'vim', 'wget', 'xxd', 'zip'],
]
/** Of them, those in images of languages that are built on Debian's packages for building (buildpack-deps). */
const ofBuilding = ['curl', 'file', 'g++', 'gcc', 'git', 'make', 'python3', 'ssh', 'unzip', 'wget']
const ofLanguages: Record<string, string[]> = {
  golang: ['go'],
  node: ['node', 'npm', 'npx'],
  openjdk: ['java'],
  python: ['pip', 'pip3', 'python', 'python3'],
  ruby: ['ruby'],
  rust: ['gcc'],
}

/** A program of the machine that the image of a task has not: its name, where it is, and what tells it from another there. */
export interface Beside {
  name: string
  stamp: string
}

/** A shell script that prints a line for each program that is here and not in the image of a system or a language. */
export const findBesides = (image: string, tag: string, isLanguage: boolean): string => {
  const isForBuilding = isLanguage && !/slim|alpine/.test(tag)
  const has = [...(ofLanguages[image] ?? []), ...(isForBuilding ? ofBuilding : [])]
  const names = bare.filter((each) => !has.includes(each))
  return `for each in ${names.join(' ')}; do
    path=$(type -P "$each") && echo "beside $each $path $(stat -L -c '%s %Z' -- "$path")"
  done`
}

export const besidesIn = (output: string): Beside[] =>
  output.split('\n').flatMap((line) => {
    const [, name = '', stamp = ''] = /^beside (\S+) (.+)$/.exec(line) ?? []
    return name === '' ? [] : [{ name, stamp }]
  })

const place = '/usr/lib/devdeck-besides'
const programs = `${place}/programs`

/**
 * Has each use of the programs noted from now on, but for those that come with the packages which `installs` name: these
 * are in the image as well.
 */
export const noteBesides = async (
  workbench: Workbench,
  besides: readonly Beside[],
  { installs, signal }: { installs: readonly string[]; signal: AbortSignal },
): Promise<void> => {
  const installed = besides.length > 0 ? await programsOf(installs) : new Set<string>()
  const left = besides.filter(({ name }) => !installed.has(name))
  if (left.length === 0) return
  const put = left.map(({ name, stamp }) => `ln -s ../program programs/${name}; echo ${quote(stamp)} >machine/${name}`)
  const script = `mkdir -p ${place}/{programs,machine} && cd ${place} && : >noted && chmod 666 noted &&
printf %s "$PROGRAM" >program && chmod 755 program &&
for name in apt apt-get aptitude; do if type -P $name; then ln -s ../program programs/$name; fi; done
${put.join('\n')}`
  await workbench.must(script, { PROGRAM: readFileSync(join(import.meta.dirname, 'besides.sh'), 'utf8') }, signal)
}

/** The variables of a phase in which uses are noted, where there is anything to note. */
export const noting = (env: Record<string, string>, isNoting: boolean): Record<string, string> =>
  isNoting ? { ...env, PATH: `${programs}:${env.PATH}` } : env

/** A shell condition: whether uses are noted in this devbox. */
export const areBesidesNoted = `[ -d ${place} ]`

/** The programs that were used until now, and not installed in the devbox first. Everything in it may write there. */
export const usedBesides = async (workbench: Workbench): Promise<string[]> => {
  const noted = ((await workbench.readEnd(`${place}/noted`, maxNotedBytes)) ?? '').split('\n')
  const used = bare.filter((name) => noted.includes(`used ${name}`))
  if (used.length === 0) return []
  const calls = noted.flatMap((line) => /^call (.+)$/.exec(line)?.[1] ?? [])
  const installed = await programsOf(calls)
  return used.filter((name) => !installed.has(name))
}

const maxNotedBytes = 64 * 1024
