from enum import Enum
from fastapi import FastAPI, Query, Path, Header, UploadFile, Depends, HTTPException
from fastapi.security import OAuth2PasswordBearer, APIKeyHeader
from pydantic import BaseModel, Field
from datetime import date, datetime
import json, sys
app = FastAPI(title="Clinic Scheduling API", version="2.7.1", description="Appointments, rooms and invoices of a clinic.",
  servers=[{"url": "https://api.clinic.example/v2", "description": "production"}, {"url": "https://staging.clinic.example/v2", "description": "staging"}],
  contact={"name": "platform team", "url": "https://clinic.example/support"}, license_info={"name": "Apache 2.0"})
oauth = OAuth2PasswordBearer(tokenUrl="auth/token", scopes={"read": "read all", "write": "change"})
key = APIKeyHeader(name="X-Clinic-Key")
class State(str, Enum):
    booked="booked"; arrived="arrived"; done="done"; cancelled="cancelled"; no_show="no_show"
class Money(BaseModel):
    amount: int = Field(ge=0, description="in cents"); currency: str = Field(min_length=3, max_length=3)
def model(n, **f):
    return type(n, (BaseModel,), {"__annotations__": {k: v[0] if isinstance(v, tuple) else v for k, v in f.items()}, **{k: v[1] for k, v in f.items() if isinstance(v, tuple)}})
Patient = model("Patient", id=int, born=date, email=(str, Field(max_length=120)), phone=(str|None, None), insured=(bool, True))
Room = model("Room", id=int, floor=int, equipment=list[str], capacity=(int, Field(gt=0, le=40)))
Appointment = model("Appointment", id=int, patient=Patient, room=Room, start=datetime, minutes=(int, Field(ge=5, le=480)), state=(State, State.booked), notes=(str|None, Field(None, max_length=2000)))
Line = model("InvoiceLine", code=str, text=str, price=Money, count=(int, 1))
Invoice = model("Invoice", id=int, appointment_id=int, lines=list[Line], total=Money, paid_at=(datetime|None, None))
Referral = model("Referral", id=int, to=str, reason=(str, Field(min_length=10)), urgent=(bool, False))
Shift = model("Shift", id=int, role=str, begin=datetime, end=datetime, room_id=(int|None, None))
def crud(tag, m, path, sec):
    async def lst(limit: int = Query(50, le=200), cursor: str|None = None, _=Depends(sec)): ...
    async def get(id: int = Path(ge=1), _=Depends(sec)): ...
    async def add(body: m, idempotency_key: str = Header(), _=Depends(sec)): ...
    async def put(id: int, body: m, _=Depends(sec)): ...
    async def rem(id: int, _=Depends(sec)): ...
    n = m.__name__.lower()
    app.get(path, tags=[tag], response_model=list[m], operation_id=f"list_{n}s", summary=f"List {n}s")(lst)
    app.get(path+"/{id}", tags=[tag], response_model=m, operation_id=f"get_{n}", summary=f"Get one {n}", responses={404: {"description": f"No such {n}"}})(get)
    app.post(path, tags=[tag], response_model=m, status_code=201, operation_id=f"create_{n}", summary=f"Create a {n}", responses={409: {"description": "Already there"}})(add)
    app.put(path+"/{id}", tags=[tag], response_model=m, operation_id=f"replace_{n}", summary=f"Replace a {n}")(put)
    app.delete(path+"/{id}", tags=[tag], status_code=204, operation_id=f"delete_{n}", summary=f"Delete a {n}")(rem)
crud("patients", Patient, "/patients", oauth); crud("rooms", Room, "/rooms", oauth)
crud("appointments", Appointment, "/appointments", oauth); crud("billing", Invoice, "/invoices", key)
crud("referrals", Referral, "/patients/{patient_id}/referrals", oauth); crud("staff", Shift, "/shifts", oauth)
@app.post("/appointments/{id}/cancel", tags=["appointments"], operation_id="cancel_appointment", deprecated=True, summary="Cancel; use PATCH instead")
async def cancel(id: int, reason: str = Query(min_length=3)): ...
@app.patch("/appointments/{id}", tags=["appointments"], operation_id="change_appointment", response_model=Appointment, responses={423: {"description": "The room is locked"}})
async def change(id: int, state: State): ...
@app.post("/patients/{id}/documents", tags=["patients"], operation_id="upload_document", status_code=202)
async def up(id: int, file: UploadFile): ...
@app.get("/v1/export", tags=["billing"], operation_id="export_v1", deprecated=True)
async def exp(year: int = Query(ge=2000)): ...
@app.get("/health", operation_id="health", responses={503: {"description": "Database unreachable"}})
async def health(): ...
@app.get("/search", tags=["patients"], operation_id="search")
async def search(q: str = Query(min_length=2), kind: State|None = None): ...
json.dump(app.openapi(), sys.stdout, indent=2)
