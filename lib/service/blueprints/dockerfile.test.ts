import { describe, expect, it } from 'vitest'
import { buildFilesOf } from './dockerfile.ts'

const linesOf = (parameters: object, base?: string) =>
  buildFilesOf({ name: 'test', ...parameters }, base)
    .dockerfile.trimEnd()
    .split('\n')

describe('the Dockerfile of a blueprint', () => {
  it('starts from an image like this host without a Dockerfile or a base', () => {
    expect(linesOf({})).toEqual([expect.stringMatching(/^FROM (debian|ubuntu|fedora|alpine):\S+$/)])
  })

  it("keeps the user's Dockerfile on its lines", () => {
    const dockerfile = 'ARG V=1\nFROM debian:12 AS x\nRUN true\n'
    expect(linesOf({ dockerfile })).toEqual(['ARG V=1', 'FROM debian:12 AS x', 'RUN true'])
  })

  it('continues from the base blueprint', () => {
    expect(linesOf({ dockerfile: 'RUN true' }, 'base:1')).toEqual(['FROM base:1', 'RUN true'])
  })

  it('adds files and repositories before the setup commands', () => {
    const parameters = {
      dockerfile: 'FROM debian:12\nUSER nobody',
      file_mounts: { '~/a': '1', 'b/c d': '2', '/etc/e': '3' },
      code_mounts: [{ repo_owner: 'o', repo_name: 'r', git_ref: "v'1", install_command: 'make' }],
      system_setup_commands: ['echo one', 'echo two\necho three', '--help', 'cat <<X', 'echo \\'],
    }
    expect(linesOf(parameters)).toEqual([
      'FROM debian:12',
      'USER nobody',
      'USER root',
      'ENV HOME=/home/user',
      'WORKDIR /home/user',
      'COPY .devdeck/file-0 /home/user/a',
      'COPY [".devdeck/file-1","/home/user/b/c d"]',
      'COPY .devdeck/file-2 /etc/e',
      "RUN git clone 'https://github.com/o/r.git' '/home/user/r'",
      `RUN git -C '/home/user/r' checkout 'v'\\''1'`,
      `RUN ["/bin/sh","-c","cd '/home/user/r'\\nmake"]`,
      'RUN echo one',
      'RUN ["/bin/sh","-c","echo two\\necho three"]',
      'RUN ["/bin/sh","-c","--help"]',
      'RUN ["/bin/sh","-c","cat <<X"]',
      'RUN ["/bin/sh","-c","echo \\\\"]',
      'RUN chown -R 1000:1000 /home/user',
    ])
    expect([...buildFilesOf({ name: 'test', ...parameters }, undefined).files.values()]).toEqual(['1', '2', '3'])
  })
})
