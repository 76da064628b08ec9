terraform { required_version = ">= 1.4" }
variable "regions" {
  type = map(object({ zone = string, size = number }))
  default = {
    north = { zone = "n-1", size = 3 }
    south = { zone = "s-2", size = 5 }
    east  = { zone = "e-1", size = 2 }
  }
}
variable "release" {
  type    = string
  default = "v14"
}
locals { disks = flatten([for r, v in var.regions : [for i in range(v.size) : { key = "${r}-${i}", region = r, gb = 40 + 20 * i }]]) }
resource "terraform_data" "network" {
  for_each = var.regions
  input    = { name = "net-${each.key}", cidr = "10.${length(each.key)}.0.0/16", zone = each.value.zone }
}
resource "terraform_data" "disk" {
  for_each = { for d in local.disks : d.key => d }
  input    = { region = each.value.region, gb = each.value.gb, encrypted = each.value.region != "east" }
  depends_on = [terraform_data.network]
}
resource "terraform_data" "server" {
  count            = 8
  input            = { name = "app-${count.index}", release = var.release, port = 8080 + count.index }
  triggers_replace = [var.release]
}
resource "terraform_data" "dns" {
  input = { zone = "desk.example", records = [for s in terraform_data.server : s.input.name] }
}
module "backup" {
  source   = "./backup"
  schedule = "0 3 * * *"
  targets  = keys(var.regions)
}
check "size" {
  assert {
    condition     = sum([for r in var.regions : r.size]) < 10
    error_message = "More than nine disks are planned; the quota is nine."
  }
}
output "servers" { value = [for s in terraform_data.server : s.input.name] }
output "backup_id" {
  value     = module.backup.id
  sensitive = true
}
