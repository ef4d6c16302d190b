// Plain JavaScript, so that an old Node can run it and explain why it cannot run the rest.
import module from 'node:module'

const needed = 24
const [major = 0] = process.versions.node.split('.').map(Number)
if (major < needed) {
  process.stderr.write(
    `Devdeck requires Node ${needed}; this is ${process.version} (${process.execPath}). On Linux, "npm ci" installs it and ` +
      `"npm start" uses it. On other systems, install Node ${needed} from nodejs.org.\n`,
  )
  process.exit(1)
}
// Caches compiled modules without types; has no effect if the folder is not writable.
module.enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/devdeck`)
