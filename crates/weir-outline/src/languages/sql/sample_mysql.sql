# The notes of the team. Don't edit by hand.

DROP TABLE IF EXISTS `notes`;
CREATE TABLE `notes` (
  `id` int NOT NULL,
  `body` text COMMENT 'what\'s written'
);
INSERT INTO `notes` VALUES (1, 'it\'s late');

CREATE TABLE go (
  term varchar(20) NOT NULL
);
GO
CREATE VIEW latest AS SELECT * FROM `notes`;
