// Plain JavaScript on purpose: an old Node must be able to run this file to say why it cannot run the others.
import module from 'node:module'

const needed = 24
const [major = 0] = process.versions.node.split('.').map(Number)
if (major < needed) {
  process.stderr.write(
    `Devdeck needs Node ${needed}, this is ${process.version} (${process.execPath}). On Linux "npm ci" installs it beside the packages; ` +
      `start through "npm start". On other systems install Node ${needed} from nodejs.org.\n`,
  )
  process.exit(1)
}
// Kept from one start to the next, compiled and with its types taken out: what is loaded after this file, main modules
// too, which cannot do it for themselves. Where nothing can be written, nothing is kept.
module.enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/devdeck`)
