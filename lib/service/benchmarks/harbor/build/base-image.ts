import { quote } from '#lib/service/kit/quoting.ts'
import type { Warning } from '../../outcome.ts'
import type { BuildBench } from './sandbox-build.ts'

const distributions = ['alpine', 'archlinux', 'busybox', 'debian', 'fedora', 'ubuntu']

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

const registries = ['docker\\.io/', 'index\\.docker\\.io/', 'public\\.ecr\\.aws/docker/', 'mirror\\.gcr\\.io/']

/** Plain operating system and language images, which a task may use without a Dockerfile. */
export const plainImage = new RegExp(
  `^(?:${registries.join('|')})?(?:library/)?(${[...distributions, ...Object.keys(languages)].join('|')})(?::([\\w.-]+))?(?:@sha256:\\w+)?$`,
)

const isOld = /^(debian:(9|1[01]|stretch|buster|bullseye)|ubuntu:(1[4-9]|2[0-2]|bionic|focal|jammy))/

export const unknownImage = (image: string): string[] =>
  image === '' || plainImage.test(image) ? [] : [`The contents of the base image ${image} are not available`]

/** A language must be installed in the version the image names; Debian and Ubuntu stand in for each other. */
export const imageWarnings = async (
  workbench: BuildBench,
  image: string,
  { env, signal }: { env: Record<string, string>; signal: AbortSignal },
): Promise<Warning[]> => {
  if (image === '') return []
  const [, name = '', tag = ''] = plainImage.exec(image) ?? []
  if (name === '') return unknownImage(image).map(differs)
  const versionCommand = languages[name]
  const script = `. /etc/os-release; echo "$ID"; echo "$PRETTY_NAME"; ${versionCommand ?? ':'} 2>&1`
  const { stdout } = await workbench.run(`bash -c ${quote(script)}`, { env, cwd: '/', signal })
  const [id = '', system = '', ...versionOutput] = stdout.split('\n')
  if (versionCommand === undefined) {
    const isRelated = [name, id].every((each) => each === 'debian' || each === 'ubuntu')
    const sentence = `FROM ${image}: the task runs on ${system}`
    return [{ sentence, differs: !isRelated && name !== id }]
  }
  const version = /\d+(\.\d+)+/.exec(versionOutput.join('\n').replace(/^.*line \d+:.*$/m, ''))?.[0]
  if (version === undefined) return [differs(`FROM ${image}: ${versionCommand.split(' ')[0]} is not installed`)]
  const wantedVersion = /^\d+(\.\d+)?/.exec(tag)?.[0]
  const isSameVersion = wantedVersion === undefined || `${version}.`.startsWith(`${wantedVersion}.`)
  const sentence = `FROM ${image}: the task runs with ${name} ${version} on ${system}`
  return [{ sentence, differs: !isSameVersion }]
}

/** Programs of language images in /usr/local/bin, which tasks may call by path. */
const programs: Record<string, string[]> = {
  node: ['node', 'npm', 'npx'],
  perl: ['perl'],
  php: ['php'],
  python: ['python', 'python3', 'pip', 'pip3'],
  ruby: ['ruby', 'gem', 'bundle'],
}

/** Adds programs at their usual paths, the image's user, root's shell files, and a pip that may install (PEP 668). */
export const makeLikeImage = async (
  workbench: BuildBench,
  image: string,
  { env, hasUsers, signal }: { env: Record<string, string>; hasUsers: boolean; signal: AbortSignal },
): Promise<void> => {
  const [, name = '', tag = ''] = plainImage.exec(image) ?? []
  const old = isOld.test(`${name}:${tag}`)
  const user = name === 'node' || (name === 'ubuntu' && !old) ? name : undefined
  const steps = [
    // Login shells read what installers write to .bashrc; on Ubuntu only interactive shells do.
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
