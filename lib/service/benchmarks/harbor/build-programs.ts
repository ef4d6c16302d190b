import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The programs whose installs a build skips. */
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

/** The variables of a RUN, with those that the programs in `folder` need. */
export const withBuildPrograms = (folder: string, line: number, env: Record<string, string>) => ({
  ...env,
  PATH: `${folder}:${env.PATH}`,
  DEVDECK_BUILD_PROGRAMS: folder,
  PYTHONPATH: [`${folder}/python`, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(':'),
  DEVDECK_DOCKERFILE_LINE: String(line),
})

/** One line for each skipped call, in order. */
export const skippedFile = (folder: string) => `${folder}/skipped`
