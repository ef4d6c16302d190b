import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The programs of which a build runs only what installs nothing. */
const names = [
  ...['apt', 'apt-get', 'apt-key', 'apt-mark', 'aptitude', 'add-apt-repository', 'dpkg', 'apk', 'pacman', 'brew'],
  ...['yum', 'dnf', 'microdnf', 'zypper', 'rpm', 'locale-gen', 'update-ca-certificates', 'corepack'],
  ...['useradd', 'adduser', 'groupadd', 'addgroup', 'usermod', 'chown', 'chgrp', 'chpasswd', 'passwd'],
  ...['pip', 'pip3', 'pipx', 'uv', 'poetry', 'conda', 'mamba', 'micromamba', 'npm', 'pnpm', 'yarn', 'bun'],
  ...['gem', 'bundle', 'cargo', 'go', 'mkdir', 'sudo'],
]

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

/** A script, and its variables, that puts the programs into a folder. */
export const putBuildPrograms = (folder: string) => ({
  script: `mkdir -p -- "$FOLDER/python/pip" && cd -- "$FOLDER" && printf %s "$PIP" >python/pip/__init__.py &&
: >skipped && printf %s "$PROGRAM" >apt && chmod +x apt && for name in $NAMES; do [ -e "$name" ] || ln -s apt "$name" || exit; done`,
  env: { FOLDER: folder, PROGRAM: read('build-program.sh'), PIP: read('build-pip.py'), NAMES: names.join(' ') },
})

/** What the programs, in `folder`, need of the environment of the RUN of a line. */
export const withBuildPrograms = (folder: string, line: number, env: Record<string, string>) => ({
  ...env,
  PATH: `${folder}:${env.PATH}`,
  DEVDECK_BUILD_PROGRAMS: folder,
  PYTHONPATH: [`${folder}/python`, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(':'),
  DEVDECK_DOCKERFILE_LINE: String(line),
})

/** What was skipped, a sentence each, in the order it was. */
export const skippedFile = (folder: string) => `${folder}/skipped`
