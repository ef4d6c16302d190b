import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { machinePython } from '#lib/service/engine/python.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import { maxVariableBytes, type Workbench } from '../../workbench.ts'
import { programsOf } from './machine-packages.ts'
import { defaultPath } from './plan.ts'

const common = [
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
const procps = ['free', 'pgrep', 'pkill', 'ps', 'top', 'watch']
const compilers = ['c++', 'c99', 'cc', 'g++', 'gcc', 'make', 'nm', 'objdump', 'pkg-config', 'readelf', 'strings']
/** buildpack-deps:scm, the base of some language images. */
const scmImage = ['curl', 'git', 'gpg', 'openssl', 'python3', 'scp', 'ssh', 'ssh-keygen', 'wget', ...procps]
/** buildpack-deps, the base of the others. */
const buildImage = [...scmImage, ...compilers, 'autoconf', 'automake', 'file', 'm4', 'patch', 'unzip', 'xz']
/** Programs of each image, even in its slim variant. */
const imagePrograms: Record<string, string[]> = {
  golang: ['go', ...scmImage, ...compilers],
  node: ['node', 'npm', 'npx'],
  openjdk: ['java', 'javac'],
  php: ['php', ...compilers, 'autoconf', 'curl', 'file', 'm4', 'openssl', 'xz'],
  python: ['openssl', 'pip', 'pip3', 'python', 'python3'],
  ruby: ['openssl', 'ruby', ...procps],
  rust: ['c99', 'cargo', 'cc', 'gcc', 'nm', 'objdump', 'readelf', 'rustc', 'strings'],
  ubuntu: procps,
}
const all = [...common, ...procps].sort()

export interface ExtraProgram {
  name: string
  stamps: string[]
}

/** Returns a shell script that prints a line for each program that the image lacks. */
export const findExtraPrograms = (image: string, tag: string, isLanguage: boolean): string => {
  const hasBuildImage = isLanguage && !['golang', 'php'].includes(image) && !/slim|alpine/.test(tag)
  const present = [...(imagePrograms[image] ?? []), ...(hasBuildImage ? buildImage : [])]
  const names = all.filter((each) => !present.includes(each))
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

const folder = '/usr/lib/devdeck-extra-programs'
const programs = `${folder}/programs`

/** Puts a wrapper that records uses in front of each extra program, unless `installs` installs it in the real image, too. */
export const trackExtraPrograms = async (
  workbench: Workbench,
  extras: readonly ExtraProgram[],
  { installs, path, signal }: { installs: readonly string[]; path: string; signal: AbortSignal },
): Promise<void> => {
  const installed = extras.length > 0 ? await installedBy(installs) : new Set<string>()
  const tracked = extras.filter(({ name }) => !installed.has(name))
  if (tracked.length === 0) return
  const put = tracked.map(({ name, stamps }) => `echo ${quote(stamps.join('\n'))} >machine/${name}`)
  const script = `mkdir -p ${folder}/{programs,machine,python} && cd ${folder} && : >used && chmod 666 used &&
printf %s "$PROGRAM" >program && chmod 755 program && printf %s "$MODULE" >python/sitecustomize.py &&
printf %s "$INSTALLS" >installs && printf %s "$SITES" >sites &&
${put.join('\n')}
found=$(PATH=${quote(path)}; type -P ${installers.join(' ')} | sed 's,.*/,,')
for name in $found $(ls machine); do ln -sf ../program programs/$name; done
# Login shells and sudo reset PATH.
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

export const withTracking = (env: Record<string, string>, isTracked: boolean): Record<string, string> =>
  isTracked
    ? {
        ...env,
        PATH: `${programs}:${env.PATH}`,
        PYTHONPATH: [`${folder}/python`, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(':'),
      }
    : env

export const isTracking = `[ -d ${folder} ]`

/** Returns the extra programs and Python packages used so far and not installed first. Anything in the devbox can write there. */
export const usedExtraPrograms = async (
  workbench: Workbench,
  { canInstall }: { canInstall: boolean },
): Promise<string[]> => {
  const lines = ((await workbench.readEnd(`${folder}/used`, maxUsedBytes)) ?? '').split('\n')
  const recorded = (kind: string) => lines.flatMap((line) => (line.startsWith(kind) ? [line.slice(kind.length)] : []))
  const used = all.filter((name) => lines.includes(`used ${name}`))
  const installed = used.length > 0 && canInstall ? await installedBy(recorded('call ')) : new Set<string>()
  const modules = [...recorded('module '), ...(canInstall ? [] : recorded('late '))]
  const packages = modules.filter((name) => /^\w{1,100}$/.test(name) && !all.includes(name)).sort()
  return [...used.filter((name) => !installed.has(name)), ...packages.map((name) => `${name} (Python)`)]
}

const installers = ['apt', 'apt-get', 'aptitude', 'pip', 'pip3', 'pipx', 'poetry', 'python', 'python3', 'uv']

/** Returns the programs that calls of installers install. Of pip's, only pytest is considered. */
export const installedBy = async (calls: readonly string[]): Promise<ReadonlySet<string>> => {
  const installsPytest = calls.some(
    (call) =>
      /^(apt|aptitude|pip|poetry|python|uv|conda|mamba).*\b(install|add|sync)\b/.test(call) &&
      (/pytest/.test(call) ||
        /^(?!apt).*(\s(-r|--requirement|-e|--editable|--group)\b|\s\.|\/|sync|poetry)/.test(call)),
  )
  return new Set([...(await programsOf(calls)), ...(installsPytest ? ['pytest'] : [])])
}

const maxUsedBytes = 64 * 1024
