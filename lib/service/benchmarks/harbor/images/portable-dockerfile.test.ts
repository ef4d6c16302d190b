import { describe, expect, it } from 'vitest'
import { portableDockerfile } from './portable-dockerfile.ts'

describe('portableDockerfile', () => {
  it('rewrites heredocs and drops the syntax image', () => {
    const source = `# syntax=docker/dockerfile:1
FROM base
RUN --mount=type=cache,target=/c <<EOF
echo "one"
EOF
RUN cat <<'END' >/two && \\
  echo three
two $HOME
END
COPY --chmod=755 <<app.sh other.txt /app/
#!/bin/sh
app.sh
SHELL ["/bin/bash", "-ec"]
RUN <<EOF
#!/usr/bin/env python3
print(1)
EOF
ENV LAST=1
`
    const { text, files } = portableDockerfile(source) ?? {}
    expect(text).toBe(`FROM base
RUN --mount=type=cache,target=/c ["/bin/sh","-c","echo \\"one\\"\\n"]
RUN ["/bin/sh","-c","cat <<'END' >/two &&   echo three\\ntwo $HOME\\nEND"]
COPY --chmod=755 .devdeck-heredocs/0/app.sh other.txt /app/
SHELL ["/bin/bash", "-ec"]
RUN ["/bin/bash","-ec","f=$(mktemp) && printf %s '#!/usr/bin/env python3\\nprint(1)\\n' >\\"$f\\" && /usr/bin/env python3 \\"$f\\""]
ENV LAST=1

`)
    expect(files).toEqual({ '.devdeck-heredocs/0/app.sh': '#!/bin/sh\n' })
  })

  it('leaves other Dockerfiles alone', () => {
    expect(portableDockerfile('FROM base\nRUN echo 1 \\\n  2\n')).toBeUndefined()
  })
})
