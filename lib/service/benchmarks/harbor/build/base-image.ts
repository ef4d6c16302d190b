import { quote } from '#lib/service/kit/quoting.ts'
import type { Warning } from '../../outcome.ts'
import type { Workbench } from '../../workbench.ts'
import { type ExtraProgram, extraProgramsIn, findExtraPrograms } from './extra-programs.ts'

const distributions = ['alpine', 'archlinux', 'busybox', 'debian', 'fedora', 'ubuntu']

/** What an image of a language has beside a system: the call that tells its version. */
const languages: Record<string, string> = {
  bash: 'bash --version',
  golang: 'go version',
  node: 'node --version',
  openjdk: 'java -version',
  perl: "perl -e 'print substr($^V, 1)'",
  php: 'php --version',
  python: 'python3 --version',
  ruby: 'ruby --version',
  rust: 'rustc --version',
}

/** Registries that hold the official images as they are. */
const registries = ['docker\\.io/', 'index\\.docker\\.io/', 'public\\.ecr\\.aws/docker/', 'mirror\\.gcr\\.io/']

/** Images that hold nothing but a system and a language: a task may name one of these without a Dockerfile. */
export const plainImage = new RegExp(
  `^(?:${registries.join('|')})?(?:library/)?(${[...distributions, ...Object.keys(languages)].join('|')})(?::([\\w.-]+))?(?:@sha256:\\w+)?$`,
)

/** Debian and Ubuntu of before 2023. */
const isOld = /^(debian:(9|1[01]|stretch|buster|bullseye)|ubuntu:(1[4-9]|2[0-2]|bionic|focal|jammy))/

/** The warning of an image that holds more than a system and a language. */
export const unknownImage = (image: string): string[] =>
  image === '' || plainImage.test(image) ? [] : [`The base image ${image} is unknown here: what it holds is missing`]

/**
 * How the system of a devbox differs from the image a task begins with, which cannot be fetched. An image that holds more
 * than a system and a language is not known at all; a language has to be here, in the version the image names. Debian and
 * Ubuntu stand for each other in any version, and a warning tells which of them this is, and how many
 * programs it has that the image has not.
 */
export const imageWarnings = async (
  workbench: Workbench,
  image: string,
  { env, signal }: { env: Record<string, string>; signal: AbortSignal },
): Promise<{ warnings: Warning[]; extras: ExtraProgram[] }> => {
  if (image === '') return { warnings: [], extras: [] }
  const [, name = '', tag = ''] = plainImage.exec(image) ?? []
  if (name === '') return { warnings: unknownImage(image).map(differs), extras: [] }
  const call = languages[name]
  const look = findExtraPrograms(name, tag, call !== undefined)
  const script = `. /etc/os-release; echo "$ID"; echo "$PRETTY_NAME"; ${look}; echo; ${call ?? ':'} 2>&1`
  const { stdout } = await workbench.run(`bash -c ${quote(script)}`, { env, cwd: '/', signal })
  const [found = '', said = ''] = stdout.split('\n\n')
  const [id = '', named = ''] = found.split('\n')
  const extras = extraProgramsIn(found)
  const more =
    extras.length > 0 ? `, which has ${extras.length} known programs more; a call of one by its name is told` : ''
  const system = named + more
  const warning = warningOf(image, { name, tag, call, said, id, system })
  return { warnings: [warning], extras }
}

interface Seen {
  name: string
  tag: string
  call: string | undefined
  /** What the call answered. */
  said: string
  /** Of the system that is here. */
  id: string
  system: string
}

const warningOf = (image: string, { name, tag, call, said, id, system }: Seen): Warning => {
  if (call === undefined) {
    const isKin = [name, id].every((each) => each === 'debian' || each === 'ubuntu')
    return { sentence: `FROM ${image}: the task runs on ${system}`, differs: !isKin && name !== id }
  }
  const version = /\d+(\.\d+)+/.exec(said.replace(/^.*line \d+:.*$/m, ''))?.[0]
  if (version === undefined) return differs(`FROM ${image}: there is no ${call.split(' ')[0]} here`)
  const wanted = /^\d+(\.\d+)?/.exec(tag)?.[0]
  const isRight = wanted === undefined || `${version}.`.startsWith(`${wanted}.`)
  return { sentence: `FROM ${image}: the task runs with ${name} ${version} on ${system}`, differs: !isRight }
}

/** What an image of a language has in /usr/local/bin, where tasks may name it by its path. */
const programs: Record<string, string[]> = {
  node: ['node', 'npm', 'npx'],
  perl: ['perl'],
  php: ['php'],
  python: ['python', 'python3', 'pip', 'pip3'],
  ruby: ['ruby', 'gem', 'bundle'],
}

/**
 * Gives a system of a devbox's own what tasks take from their image beside its programs: those in their places, its user,
 * what shells of root read, and a pip that installs into the system without being asked to, where this machine's refuses
 * it (PEP 668).
 */
export const makeLikeImage = async (
  workbench: Workbench,
  image: string,
  { env, hasUsers, signal }: { env: Record<string, string>; hasUsers: boolean; signal: AbortSignal },
): Promise<void> => {
  const [, name = '', tag = ''] = plainImage.exec(image) ?? []
  const old = isOld.test(`${name}:${tag}`)
  const user = name === 'node' || (name === 'ubuntu' && !old) ? name : undefined
  const steps = [
    // The login shell reads what installers write into .bashrc; in Ubuntu no shell does that is not interactive.
    'cd /usr/share/base-files 2>/dev/null && for name in bashrc profile; do cp dot.$name /root/.$name; done',
    name === 'ubuntu' && `echo '[ -z "$PS1" ] && return' >/root/.bashrc`,
    `for name in ${(programs[name] ?? []).join(' ')}; do
      if program=$(command -v "$name") && [ ! -e "/usr/local/bin/$name" ]; then ln -s "$program" /usr/local/bin; fi
    done`,
    (old || name === 'python') && 'rm -f -- /usr/lib/python3*/EXTERNALLY-MANAGED',
    user && hasUsers && `useradd -m -u 1000 -s /bin/bash ${user}`,
  ]
  await workbench.must(steps.filter(Boolean).join('\n'), env, signal)
}

const differs = (sentence: string): Warning => ({ sentence, differs: true })
