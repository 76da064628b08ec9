import struct, math, tarfile, io, random, os, email.message, base64
r = random.Random(11)
# A WAV with a LIST chunk.
rate=8000; data=b''.join(struct.pack('<h', int(9000*math.sin(i*0.1)*(1 if i%4000<3000 else 0))) for i in range(rate))
info=b'INFO'+b'INAM'+struct.pack('<I',12)+b'door chime 3'+b'ISFT'+struct.pack('<I',14)+b'chimegen 1.4\0\0'
wav=b'WAVE'+b'fmt '+struct.pack('<IHHIIHH',16,1,1,rate,rate*2,2,16)+b'LIST'+struct.pack('<I',len(info))+info+b'data'+struct.pack('<I',len(data))+data
open('bin/chime.wav','wb').write(b'RIFF'+struct.pack('<I',len(wav))+wav)
# A tar of configuration.
t=tarfile.open('bin/etc.tar','w')
for n,body in [('kiosk/config.ini','[screen]\nwidth=1280\nheight=800\nrotate=90\n[net]\nhost=kiosk-07.depot.example\nport=9100\n'),('kiosk/start.sh','#!/bin/sh\nset -e\nexport KIOSK_MODE=locked\nexec /opt/kiosk/bin/kiosk --config /etc/kiosk/config.ini\n'),('kiosk/error.log','2026-10-01 03:12:44 ERROR touch controller not found on i2c-3\n2026-10-01 03:12:50 WARN falling back to mouse\n'),('kiosk/logo.raw',None)]:
    b=body.encode() if body is not None else bytes(r.randrange(256) for _ in range(4000))
    ti=tarfile.TarInfo(n); ti.size=len(b); ti.mtime=1790000000; ti.mode=0o755 if n.endswith('.sh') else 0o644; ti.uname='kiosk'; t.addfile(ti,io.BytesIO(b))
t.close()
m=email.message.EmailMessage(); m['From']='reports@depot.example'; m['To']='operations@depot.example'; m['Subject']='Nightly reconciliation: 3 parcels missing'; m['Date']='Thu, 01 Oct 2026 04:00:12 +0000'
m['Message-ID']='<20261001040012.118@depot.example>'
m.set_content('Three parcels are missing since the last run: P40113, P40207, P40388.\nThe full list is attached.\n')
csv='parcel,gate,weight,state\n'+''.join(f'P{40000+i},{i%6},{r.randrange(100,9000)},{"missing" if i in (113,207,388) else "ok"}\n' for i in range(800))
m.add_attachment(csv.encode(),maintype='text',subtype='csv',filename='reconciliation.csv',cte='base64')
import zipfile; z=io.BytesIO(); zz=zipfile.ZipFile(z,'w'); zz.writestr('scans/gate-0.bin',bytes(r.randrange(256) for _ in range(9000))); zz.writestr('scans/README.txt','raw scans of the night of 2026-09-30\n'); zz.close()
m.add_attachment(z.getvalue(),maintype='application',subtype='zip',filename='scans.zip')
open('out/base64-mail-depot.txt','w').write(m.as_string())
