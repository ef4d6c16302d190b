import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { machinePython } from '#lib/service/engine/python.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import { maxVariableBytes, type Workbench } from '../../workbench.ts'
import { programsOf } from './machine-packages.ts'
import { defaultPath } from './plan.ts'

/**
 * Programs that solutions, agents and tests reach for, and that no image of a bare system has. Those that pip or npm may
 * have brought are not told apart from the machine's, and pytest is the only one of them.
 */
const bare = [
  ...['7z', 'autoconf', 'automake', 'bc', 'bison', 'bsdtar', 'c++', 'c99', 'cargo', 'cc', 'clang', 'cmake', 'cpio'],
  ...['crontab', 'curl', 'dig', 'dos2unix', 'expect', 'ffmpeg', 'file', 'flex', 'fuser', 'g++', 'gcc', 'gdb'],
  ...['gfortran', 'git', 'go', 'gpg', 'hexdump', 'ifconfig', 'ip', 'java', 'javac', 'jq', 'killall', 'less', 'lsof'],
  ...['lua', 'm4', 'make', 'mysql', 'nano', 'nc', 'netstat', 'nginx', 'ninja', 'nm', 'nmap', 'node', 'npm', 'npx'],
  ...['objdump', 'openssl', 'pandoc', 'parallel', 'patch', 'pdftotext', 'php', 'ping', 'pip', 'pip3', 'pkg-config'],
  ...['psql', 'pstree', 'pytest', 'python', 'python3', 'readelf', 'redis-cli', 'redis-server', 'rg', 'rsync'],
  ...['ruby', 'rustc'],
  ...['scp', 'screen', 'socat', 'sqlite3', 'ss', 'ssh', 'ssh-keygen', 'strace', 'strings', 'sudo', 'tcpdump', 'telnet'],
  ...['tmux', 'tree', 'unzip', 'valgrind', 'vi', 'vim', 'wget', 'xmllint', 'xxd', 'xz', 'zip', 'zsh', 'zstd'],
]
const ofProcesses = ['free', 'pgrep', 'pkill', 'ps', 'top', 'watch']
const ofCompilers = ['c++', 'c99', 'cc', 'g++', 'gcc', 'make', 'nm', 'objdump', 'pkg-config', 'readelf', 'strings']
/** In images of languages that are built on Debian's packages for work with sources (buildpack-deps:scm). */
const ofSources = ['curl', 'git', 'gpg', 'openssl', 'python3', 'scp', 'ssh', 'ssh-keygen', 'wget', ...ofProcesses]
/** In those that are built on its packages for building. */
const ofBuilding = [...ofSources, ...ofCompilers, 'autoconf', 'automake', 'file', 'm4', 'patch', 'unzip', 'xz']
/** What images of systems and languages have, however slim they are. */
const ofImages: Record<string, string[]> = {
  golang: ['go', ...ofSources, ...ofCompilers],
  node: ['node', 'npm', 'npx'],
  openjdk: ['java', 'javac'],
  php: ['php', ...ofCompilers, 'autoconf', 'curl', 'file', 'm4', 'openssl', 'xz'],
  python: ['openssl', 'pip', 'pip3', 'python', 'python3'],
  ruby: ['openssl', 'ruby', ...ofProcesses],
  rust: ['c99', 'cargo', 'cc', 'gcc', 'nm', 'objdump', 'readelf', 'rustc', 'strings'],
  ubuntu: ofProcesses,
}
const all = [...bare, ...ofProcesses].sort()
const notForBuilding = ['golang', 'php']

/** A program of the machine that the image of a task has not. */
export interface ExtraProgram {
  name: string
  /** A line for each place it is at: where, and what tells it from another there. */
  stamps: string[]
}

/** A shell script that prints a line for each program that is here and not in the image of a system or a language. */
export const findExtraPrograms = (image: string, tag: string, isLanguage: boolean): string => {
  const isForBuilding = isLanguage && !notForBuilding.includes(image) && !/slim|alpine/.test(tag)
  const has = [...(ofImages[image] ?? []), ...(isForBuilding ? ofBuilding : [])]
  const names = all.filter((each) => !has.includes(each))
  return `for each in ${names.join(' ')}; do
    type -aP "$each" | while read -r path; do echo "extra $each $path $(stat -L -c '%s %Z' -- "$path")"; done
  done`
}

export const extraProgramsIn = (output: string): ExtraProgram[] => {
  const found = new Map<string, string[]>()
  for (const line of output.split('\n')) {
    const [, name = '', stamp = ''] = /^extra (\S+) (.+)$/.exec(line) ?? []
    if (name !== '') found.set(name, [...(found.get(name) ?? []), stamp])
  }
  return [...found].map(([name, stamps]) => ({ name, stamps }))
}

const place = '/usr/lib/devdeck-extra-programs'
const programs = `${place}/programs`

/**
 * Puts a program that notes its uses in front of each extra one. Programs of the packages that `installs` name are left
 * out: the real image has them too.
 */
export const noteExtraPrograms = async (
  workbench: Workbench,
  extras: readonly ExtraProgram[],
  { installs, path, signal }: { installs: readonly string[]; path: string; signal: AbortSignal },
): Promise<void> => {
  const installed = extras.length > 0 ? await broughtBy(installs) : new Set<string>()
  const left = extras.filter(({ name }) => !installed.has(name))
  if (left.length === 0) return
  const put = left.map(({ name, stamps }) => `echo ${quote(stamps.join('\n'))} >machine/${name}`)
  const script = `mkdir -p ${place}/{programs,machine,python} && cd ${place} && : >noted && chmod 666 noted &&
printf %s "$PROGRAM" >program && chmod 755 program && printf %s "$MODULE" >python/sitecustomize.py &&
printf %s "$INSTALLS" >installs && printf %s "$SITES" >sites &&
${put.join('\n')}
found=$(PATH=${quote(path)}; type -P ${installers.join(' ')} | sed 's,.*/,,')
for name in $found $(ls machine); do ln -sf ../program programs/$name; done
# Login shells and sudo set a PATH of their own.
if [ -d /etc/profile.d ]; then echo 'PATH=${programs}:$PATH' >/etc/profile.d/zz-devdeck.sh; fi
if [ -d /etc/sudoers.d ]; then
  echo 'Defaults secure_path="${programs}:${defaultPath}"' >/etc/sudoers.d/zz-devdeck && chmod 440 /etc/sudoers.d/zz-devdeck
fi`
  const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')
  const sites = [...((await machinePython())?.prefixes ?? []).map((prefix) => `${prefix}/`), '/usr/lib/python3/']
  const env = {
    PROGRAM: read('extra-programs.sh'),
    MODULE: read('sitecustomize.py'),
    INSTALLS: installs.join('\n').slice(0, maxVariableBytes),
    SITES: sites.join('\n'),
  }
  await workbench.must(script, env, signal)
}

/** The variables of a phase, with the noting programs first in its PATH where uses are noted. */
export const noting = (env: Record<string, string>, isNoting: boolean): Record<string, string> =>
  isNoting
    ? {
        ...env,
        PATH: `${programs}:${env.PATH}`,
        PYTHONPATH: [`${place}/python`, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(':'),
      }
    : env

/** A shell condition that holds where uses are noted in this devbox. */
export const areUsesNoted = `[ -d ${place} ]`

/**
 * The programs, and packages of Python, that were used until now, and not installed in the devbox first, as nothing can be
 * without a network. Everything in it may write there.
 */
export const usedExtraPrograms = async (
  workbench: Workbench,
  { canInstall }: { canInstall: boolean },
): Promise<string[]> => {
  const noted = ((await workbench.readEnd(`${place}/noted`, maxNotedBytes)) ?? '').split('\n')
  const wordsOf = (kind: string) => noted.flatMap((line) => (line.startsWith(kind) ? [line.slice(kind.length)] : []))
  const used = all.filter((name) => noted.includes(`used ${name}`))
  const installed = used.length > 0 && canInstall ? await broughtBy(wordsOf('call ')) : new Set<string>()
  const modules = [...wordsOf('module '), ...(canInstall ? [] : wordsOf('late '))]
  const packages = modules.filter((name) => /^\w{1,100}$/.test(name) && !all.includes(name)).sort()
  return [...used.filter((name) => !installed.has(name)), ...packages.map((name) => `${name} of Python`)]
}

/** Programs whose calls may install others. */
const installers = ['apt', 'apt-get', 'aptitude', 'pip', 'pip3', 'pipx', 'poetry', 'python', 'python3', 'uv']

/** The programs that calls of installers bring. Of those of pip only pytest is looked at, which a list may name as well. */
export const broughtBy = async (calls: readonly string[]): Promise<ReadonlySet<string>> => {
  const bringsPytest = calls.some(
    (call) =>
      /^(apt|aptitude|pip|poetry|python|uv|conda|mamba).*\b(install|add|sync)\b/.test(call) &&
      (/pytest/.test(call) ||
        /^(?!apt).*(\s(-r|--requirement|-e|--editable|--group)\b|\s\.|\/|sync|poetry)/.test(call)),
  )
  return new Set([...(await programsOf(calls)), ...(bringsPytest ? ['pytest'] : [])])
}

const maxNotedBytes = 64 * 1024
