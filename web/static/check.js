// The check of an own log. The hashes are worked out here, from the lines alone; the server's word counts for nothing.
const log = document.querySelector('#log')
const result = document.querySelector('#result')
const sentence = (name, values) => log.dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key])

async function sha256(text) {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

// The number of the first entry that does not hold, from 1; 0 if all hold.
async function firstBroken(chain) {
  let before = ''
  for (const [index, entry] of chain.entries()) {
    if ((await sha256(`${before}\n${entry.row}`)) !== entry.hash) return index + 1
    before = entry.hash
  }
  return 0
}

function compare(now, record) {
  const earlier = record.log
  if (record.id !== now.id || !Array.isArray(earlier?.chain) || !Array.isArray(earlier?.heads)) return sentence('file', {})
  const lost = earlier.chain.findIndex((entry, index) => now.chain[index]?.hash !== entry.hash)
  if (lost >= 0) return sentence('lost', { number: lost + 1 })
  const heads = new Map(now.heads.map((head) => [head.day, head.hash]))
  const other = earlier.heads.find((head) => heads.get(head.day) !== head.hash)
  if (other) return sentence('head', { day: String(other.day).slice(0, 10) })
  return sentence('earlier', { number: earlier.chain.length })
}

async function check() {
  if (!globalThis.crypto?.subtle) return sentence('insecure', {})
  const answer = await fetch(log.dataset.entries, { cache: 'no-store' })
  const now = answer.ok ? await answer.json() : null
  if (!now) return sentence('failed', {})
  const broken = await firstBroken(now.chain)
  log.dataset.state = broken ? 'broken' : 'holds'
  if (now.chain.length) {
    document.querySelector('#last').hidden = false
    document.querySelector('#last code').textContent = now.chain[now.chain.length - 1].hash
  }
  const list = document.querySelector('#heads ul')
  for (const head of now.heads) {
    const line = document.createElement('li')
    line.textContent = `${head.day} ${head.hash}`
    list.append(line)
  }
  document.querySelector('#heads').hidden = !now.heads.length
  document.querySelector('#compare').hidden = false
  document.querySelector('#earlier').addEventListener('change', async (event) => {
    const compared = document.querySelector('#compared')
    document.querySelector('#chosen').textContent = event.target.files[0]?.name ?? ''
    try {
      compared.textContent = compare(now, JSON.parse(await event.target.files[0].text()))
    } catch {
      compared.textContent = sentence('file', {})
    }
  })
  return broken ? sentence('broken', { number: broken }) : sentence('holds', { number: now.chain.length })
}

check().then(
  (text) => { result.textContent = text },
  () => { result.textContent = sentence('failed', {}) },
)
