// The secret stands behind the # of the address, which a browser sends to nobody: no log and no Referer holds it.
const secret = decodeURIComponent(location.hash.slice(1))
const form = document.querySelector('#open')
if (form) {
  form.hidden = !secret
  document.querySelector('#missing').hidden = Boolean(secret)
  document.querySelector('#link').value = secret
}
for (const link of document.querySelectorAll('[data-language]')) link.hash = location.hash
