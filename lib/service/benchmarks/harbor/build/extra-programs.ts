import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Workbench } from '../../workbench.ts'
import { programsOf } from './machine-packages.ts'

/**
 * Programs that solutions, agents and tests use, and that no image of a bare system has. Programs that come from pip or npm
 * are not listed: they cannot be told from those of the machine.
 */
const bare = [
  ...['cmake', 'curl', 'expect', 'file', 'g++', 'gcc', 'gdb', 'git', 'go', 'java', 'jq', 'make', 'nc', 'nginx'],
  ...['node', 'npm', 'npx', 'pip', 'pip3', 'psql', 'python', 'python3', 'redis-server', 'rsync', 'ruby', 'socat'],
  ...['sqlite3', 'ssh', 'strace', 'tmux', 'unzip', 'vim', 'wget', 'xxd', 'zip'],
]
/** Those of them that images of languages have where they are built on buildpack-deps. */
const ofBuilding = ['curl', 'file', 'g++', 'gcc', 'git', 'make', 'python3', 'ssh', 'unzip', 'wget']
const ofLanguages: Record<string, string[]> = {
  golang: ['go'],
  node: ['node', 'npm', 'npx'],
  openjdk: ['java'],
  python: ['pip', 'pip3', 'python', 'python3'],
  ruby: ['ruby'],
  rust: ['gcc'],
}

/** A program of this machine that the image of a task does not have. The stamp is its path, size and time of change. */
export interface ExtraProgram {
  name: string
  stamp: string
}

/** A shell script that prints a line for each program of this machine that the image of a system or a language does not have. */
export const findExtraPrograms = (image: string, tag: string, isLanguage: boolean): string => {
  const isForBuilding = isLanguage && !/slim|alpine/.test(tag)
  const has = [...(ofLanguages[image] ?? []), ...(isForBuilding ? ofBuilding : [])]
  const names = bare.filter((each) => !has.includes(each))
  return `for each in ${names.join(' ')}; do
    path=$(type -P "$each") && echo "extra $each $path $(stat -L -c '%s %Z' -- "$path")"
  done`
}

export const extraProgramsIn = (output: string): ExtraProgram[] =>
  output.split('\n').flatMap((line) => {
    const [, name = '', stamp = ''] = /^extra (\S+) (.+)$/.exec(line) ?? []
    return name === '' ? [] : [{ name, stamp }]
  })

const place = '/usr/lib/devdeck-extra-programs'
const programs = `${place}/programs`

/**
 * Puts a program that notes its uses in front of each extra one. Programs of the packages that `installs` name are left
 * out: the real image has them too.
 */
export const noteExtraPrograms = async (
  workbench: Workbench,
  extras: readonly ExtraProgram[],
  { installs, signal }: { installs: readonly string[]; signal: AbortSignal },
): Promise<void> => {
  const installed = extras.length > 0 ? await programsOf(installs) : new Set<string>()
  const left = extras.filter(({ name }) => !installed.has(name))
  if (left.length === 0) return
  const put = left.map(({ name, stamp }) => `ln -s ../program programs/${name}; echo ${quote(stamp)} >machine/${name}`)
  const script = `mkdir -p ${place}/{programs,machine} && cd ${place} && : >noted && chmod 666 noted &&
printf %s "$PROGRAM" >program && chmod 755 program &&
for name in apt apt-get aptitude; do if type -P $name; then ln -s ../program programs/$name; fi; done
${put.join('\n')}`
  await workbench.must(
    script,
    { PROGRAM: readFileSync(join(import.meta.dirname, 'extra-programs.sh'), 'utf8') },
    signal,
  )
}

/** The variables of a phase, with the noting programs first in its PATH where uses are noted. */
export const noting = (env: Record<string, string>, isNoting: boolean): Record<string, string> =>
  isNoting ? { ...env, PATH: `${programs}:${env.PATH}` } : env

/** A shell condition that holds where uses are noted in this devbox. */
export const areUsesNoted = `[ -d ${place} ]`

/** The extra programs that were used until now without being installed first. Anything in the devbox may write that file. */
export const usedExtraPrograms = async (workbench: Workbench): Promise<string[]> => {
  const noted = ((await workbench.readEnd(`${place}/noted`, maxNotedBytes)) ?? '').split('\n')
  const used = bare.filter((name) => noted.includes(`used ${name}`))
  if (used.length === 0) return []
  const calls = noted.flatMap((line) => /^call (.+)$/.exec(line)?.[1] ?? [])
  const installed = await programsOf(calls)
  return used.filter((name) => !installed.has(name))
}

const maxNotedBytes = 64 * 1024
