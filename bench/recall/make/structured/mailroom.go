package main
import ("errors";"fmt";"math/rand";"time";"strings";"strconv")
func main() {
 t := time.Date(2026,10,4,22,0,0,0,time.UTC)
 l := L{&t}
 r := rand.New(rand.NewSource(3))
 l.Info("starting","service","mailroom","version","0.18.4","commit","9f2c1e7","workers",4)
 for i:=0;i<620;i++ { t=t.Add(time.Duration(200+r.Intn(900))*time.Millisecond)
  w := i%4; id := fmt.Sprintf("m-%05d",7000+i)
  if i==411 {t=t.Add(4*time.Minute+12*time.Second)}
  switch { 
  case i%83==20: l.Error("delivery failed","worker",w,"mail",id,"relay","mx2.mailroom.example:25","err",errors.New("454 4.7.0 TLS not available due to temporary reason"),"attempt",1+i%3)
  case i==300: l.Error("queue write failed","worker",w,"err",errors.New("write /var/spool/mailroom/q.db: no space left on device"))
  case i%60==31: l.Warn("relay is slow","relay",fmt.Sprintf("mx%d.mailroom.example:25",1+i%3),"took",time.Duration(3+i%9)*time.Second)
  case i%5==0: l.Debug("dns cache","host",fmt.Sprintf("mx%d.mailroom.example",1+i%3),"ttl",60*(1+r.Intn(5)))
  default: l.Info("delivered","worker",w,"mail",id,"bytes",900+r.Intn(90000),"took",time.Duration(40+r.Intn(700))*time.Millisecond)
  } }
 l.Warn("draining","left",17); l.Info("stopped","delivered",460,"uptime","6m40s")
}

type L struct{ t *time.Time }
func (l L) p(lv, m string, kv ...any) { var b strings.Builder
 q := func(v any) string { x := fmt.Sprint(v); if strings.ContainsAny(x," =\"") {return strconv.Quote(x)}; return x }
 fmt.Fprintf(&b,"time=%s level=%s msg=%s",l.t.Format(time.RFC3339Nano),lv,q(m))
 for i:=0;i<len(kv);i+=2 { fmt.Fprintf(&b," %v=%s",kv[i],q(kv[i+1])) }
 fmt.Println(b.String()) }
func (l L) Info(m string, kv ...any){l.p("INFO",m,kv...)}
func (l L) Warn(m string, kv ...any){l.p("WARN",m,kv...)}
func (l L) Error(m string, kv ...any){l.p("ERROR",m,kv...)}
func (l L) Debug(m string, kv ...any){l.p("DEBUG",m,kv...)}
